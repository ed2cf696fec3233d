import { useMemo, useState } from "react";
import type { DiffFile } from "../../../../src/contract/change-request.ts";
import type { Session } from "../../../../src/contract/session.ts";
import type { Turn } from "../../../../src/contract/turn.ts";
import { count } from "../../../parts/count.ts";
import { Empty } from "../../../parts/empty.tsx";
import { Failure } from "../../../parts/notice.tsx";
import { Segments } from "../../../parts/segments.tsx";
import { Visible } from "../../../parts/visible.tsx";
import { Counts, Kind } from "../../change-requests/diff/file-head.tsx";
import { File } from "./file.tsx";
import { type At, momentOf, useChanges } from "./queries.ts";
import { Tree } from "./tree.tsx";

/** The files in the sandbox of a session and what the agent has changed, while it works. */
export function Files({ session, turns }: { session: Session; turns: readonly Turn[] }) {
  const ended = momentOf(turns);
  const { data, error, refetch } = useChanges(session, ended);
  const [all, setAll] = useState<"changed" | "all">("changed");
  const [chosen, setChosen] = useState<At | null>(null);
  const changed = useMemo(() => new Map(data?.files.map((file) => [file.path, file])), [data]);
  if (session.status !== "running")
    return <Empty title="No sandbox">The session does not run, so there are no files to show.</Empty>;
  const shown = { session, moment: `${ended} ${data?.version}` };
  const files = data?.files ?? [];
  return (
    <section aria-label="Files" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <Segments
          legend="Which files are listed"
          options={[
            ["changed", "Changed files"],
            ["all", "All files"],
          ]}
          value={all}
          onChange={setAll}
        />
        <p role="status" className="text-muted text-sm">
          {data ? `${count(files.length + data.more, "file")} changed` : ""}
        </p>
      </div>
      <Failure error={error} retry={() => void refetch()} />
      <div className="grid gap-4 md:grid-cols-[minmax(0,16rem)_minmax(0,1fr)]">
        <div className="max-h-[60dvh] min-w-0 overflow-y-auto md:max-h-[75dvh]">
          {all === "all" ? (
            <Tree shown={shown} changed={changed} chosen={chosen} onChoose={setChosen} />
          ) : (
            <Changed files={files} chosen={chosen} onChoose={setChosen} more={data?.more ?? 0} />
          )}
        </div>
        {chosen ? (
          <File
            key={chosen.path_base64 ?? chosen.path}
            shown={shown}
            at={chosen}
            change={changed.get(chosen.path)}
          />
        ) : (
          <p className="text-muted">Choose a file to read it.</p>
        )}
      </div>
    </section>
  );
}

interface ChangedProps {
  files: readonly DiffFile[];
  more: number;
  chosen: At | null;
  onChoose: (at: At) => void;
}

function Changed({ files, more, chosen, onChoose }: ChangedProps) {
  if (files.length === 0) return <p className="text-muted text-sm">No file is changed.</p>;
  return (
    <>
      <ul aria-label="Changed files">
        {files.map((file) => (
          <li key={file.path_base64 ?? file.path}>
            <button
              type="button"
              aria-pressed={chosen?.path === file.path && chosen.path_base64 === file.path_base64}
              onClick={() => onChoose(file)}
              className="flex w-full min-w-0 flex-wrap items-center gap-1.5 rounded-md px-1.5 py-1 text-left text-sm hover:bg-raised aria-pressed:bg-raised"
            >
              <Kind file={file} />
              <span className="min-w-0 grow">
                <Visible>{file.path}</Visible>
              </span>
              <Counts file={file} />
            </button>
          </li>
        ))}
      </ul>
      {more > 0 && <p className="px-1.5 py-1 text-muted text-sm">And {more} more.</p>}
    </>
  );
}
