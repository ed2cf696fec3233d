import { createContext, type ReactNode, useContext } from "react";
import type { TurnPart, TurnTool } from "../../../../src/contract/turn.ts";
import { useGet } from "../../../api/get.ts";
import { withoutColours } from "../../../parts/ansi.ts";
import { Loading } from "../../../parts/loading.tsx";
import { Failure } from "../../../parts/notice.tsx";
import { Patch } from "../../../parts/patch.tsx";
import { ScrollBox } from "../../../parts/scroll-box.tsx";
import { StateIcon } from "../../../parts/state-icon.tsx";
import { Visible, visibleText } from "../../../parts/visible.tsx";
import type { Chat } from "./chat.ts";
import { Folded } from "./folded.tsx";
import type { ToolItem } from "./turn.ts";

const MARKS = {
  running: ["running", "runs"],
  done: ["ok", "done"],
  failed: ["danger", "failed"],
  interrupted: ["interrupted", "cut off"],
} as const satisfies Record<TurnPart["state"], unknown>;

/** The conversation that is shown, for what is loaded when it is opened. */
export const Shown = createContext<Chat | null>(null);

/**
 * A tool call: a summary, which expands to its input and output.
 * @param inner renders what its subagent did
 */
export function Tool({ item, inner }: { item: ToolItem; inner: () => ReactNode }) {
  const { key, use, state, isBrief } = item;
  const [look, words] = MARKS[state];
  const summary = (
    <>
      <span className="shrink-0">
        <StateIcon look={look} />
        <span className="sr-only">{words}</span>
      </span>
      <span className="shrink-0 font-medium">
        <Visible>{use.name}</Visible>
      </span>
      <span className="min-w-0 grow font-mono text-muted text-xs leading-5">
        {use.files.length > 0 ? <Files files={use.files} /> : <Visible>{use.title}</Visible>}
      </span>
    </>
  );
  return (
    <Folded id={key} summary={summary}>
      {() => (
        <>
          {inner()}
          {isBrief ? <Loaded partId={key} state={state} /> : <Details use={use} state={state} />}
        </>
      )}
    </Folded>
  );
}

/** The details of a tool call that are long. */
function Loaded({ partId, state }: { partId: string; state: TurnPart["state"] }) {
  const chat = useContext(Shown);
  const { data, error, refetch } = useGet<TurnPart>(
    chat?.partKey(partId) ?? [],
    chat?.partPath(partId) ?? "",
    {
      enabled: chat !== null,
    },
  );
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  return data?.tool ? <Details use={data.tool} state={state} /> : <Loading what="Loading the details" />;
}

function Details({ use, state }: { use: TurnTool; state: TurnPart["state"] }) {
  return (
    <>
      {use.patch !== "" ? <Patch>{use.patch}</Patch> : <Input input={use.input} />}
      {use.error !== null && (
        <p className="text-danger">
          <Visible>{use.error}</Visible>
        </p>
      )}
      {use.output !== "" && <Block title="Output" text={withoutColours(use.output)} />}
      {state === "running" && <p className="text-muted">The output is shown when the call is finished.</p>}
    </>
  );
}

function Files({ files }: Pick<TurnTool, "files">) {
  return (
    <span className="flex flex-wrap gap-x-3">
      {files.map(({ path, additions, deletions }) => (
        <span key={path}>
          <Visible>{path}</Visible>
          {additions !== null && <span className="text-ok"> +{additions}</span>}
          {deletions !== null && <span className="text-danger"> -{deletions}</span>}
        </span>
      ))}
    </span>
  );
}

function Input({ input }: Pick<TurnTool, "input">) {
  if (input.length === 0) return <p className="text-muted">The input is unknown.</p>;
  return input.map(({ name, value }) => <Block key={name} title={name} text={value} />);
}

function Block({ title, text }: { title: string; text: string }) {
  return (
    <div>
      <p className="text-muted text-xs">
        <Visible>{title}</Visible>
      </p>
      <ScrollBox label={visibleText(title)} className="max-h-96 rounded-sm bg-raised p-2">
        <pre className="whitespace-pre-wrap text-xs">
          <Visible>{text}</Visible>
        </pre>
      </ScrollBox>
    </div>
  );
}
