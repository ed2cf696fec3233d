import { useGet } from "../../api/get.ts";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { ScrollBox } from "../../parts/scroll-box.tsx";
import { Line, type LogRow } from "./log.tsx";

/** Lines to request. The command line shows more. */
export const LOG_LINES = 500;

interface Props {
  queryKey: readonly unknown[];
  /** The path of a route that answers with `lines`. */
  at: string;
  /** The name of the list of lines, for screen readers. */
  label: string;
  /** The polling interval in milliseconds; false: the log has ended. */
  every: number | false;
}

/** The end of the log of a program, read again while it runs. */
export function PolledLog({ queryKey, at, label, every }: Props) {
  const { data, error, isPending, refetch } = useGet<{ lines: LogRow[] }>(queryKey, at, {
    refetchInterval: every,
  });
  return (
    <>
      <Failure error={error} retry={() => void refetch()} />
      {isPending && <Loading what="Loading the log" />}
      {data && (
        <ScrollBox
          label={label}
          className="max-h-[60dvh] rounded-lg border border-line bg-surface p-3 font-mono text-xs leading-5"
        >
          <ol>
            {data.lines.map((line, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines are only appended
              <Line key={index} line={line} />
            ))}
          </ol>
          {data.lines.length === 0 && <p className="text-muted">The log is empty.</p>}
        </ScrollBox>
      )}
    </>
  );
}
