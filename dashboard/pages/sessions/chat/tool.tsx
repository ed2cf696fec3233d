import { memo } from "react";
import type { FileEdit, ToolUse } from "../../../../src/conversation/tools.ts";
import { withoutColours } from "../../../parts/ansi.ts";
import { Patch } from "../../../parts/patch.tsx";
import { ScrollBox } from "../../../parts/scroll-box.tsx";
import { Visible, visibleText } from "../../../parts/visible.tsx";

const MARKS = {
  pending: ["○", "text-muted", "waits"],
  running: ["◌", "text-info", "runs"],
  completed: ["✓", "text-ok", "done"],
  error: ["✗", "text-danger", "failed"],
  interrupted: ["–", "text-warn", "cut off"],
} as const;

/** A tool call of the runtime, or one that is stored. */
export interface ShownTool extends Omit<ToolUse, "state" | "subagent"> {
  state: keyof typeof MARKS;
}

/** A tool call: a summary, which expands to its input and output. */
export const Tool = memo(function Tool({ use, isSubagent }: { use: ShownTool; isSubagent: boolean }) {
  const [mark, look, state] = MARKS[use.state];
  return (
    <details className={`group rounded-md border border-line bg-surface ${isSubagent ? "ml-6" : ""}`}>
      <summary className="flex min-h-9 list-none items-center gap-2 rounded-md px-3 py-1.5 text-sm hover:bg-raised">
        <span className={`shrink-0 ${look}`}>
          <span aria-hidden="true">{mark}</span>
          <span className="sr-only">{state}</span>
        </span>
        <span className="shrink-0 font-medium">
          <Visible>{use.tool}</Visible>
        </span>
        <span className="min-w-0 grow font-mono text-muted text-xs leading-5">
          {use.files.length > 0 ? <Files files={use.files} /> : <Visible>{use.title}</Visible>}
        </span>
        <span aria-hidden="true" className="shrink-0 text-muted transition-transform group-open:rotate-90">
          ›
        </span>
      </summary>
      <div className="flex flex-col gap-3 border-line border-t px-3 py-3 text-sm">
        {use.patch !== "" ? <Patch>{use.patch}</Patch> : <Input input={use.input} />}
        {use.error !== null && (
          <p className="text-danger">
            <Visible>{use.error}</Visible>
          </p>
        )}
        {use.output !== "" && <Block title="Output" text={withoutColours(use.output)} />}
        {use.state === "running" && (
          <p className="text-muted">The output is shown when the call is finished.</p>
        )}
      </div>
    </details>
  );
});

function Files({ files }: { files: readonly FileEdit[] }) {
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

function Input({ input }: { input: ToolUse["input"] }) {
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
