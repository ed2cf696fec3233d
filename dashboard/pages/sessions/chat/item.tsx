import { memo } from "react";
import { type AttachedFile, attachedText } from "../../../../src/contract/attachment.ts";
import { Ago } from "../../../parts/ago.tsx";
import { AuthorName } from "../../../parts/author-name.tsx";
import { Visible } from "../../../parts/visible.tsx";
import { Answer } from "./answer.tsx";
import { AnsweredRequest, Plan } from "./asked.tsx";
import { Tool } from "./tool.tsx";
import type { Item, Sent } from "./transcript.ts";

/** An item of a conversation, live or stored. */
export const OneItem = memo(function OneItem({
  item,
  isGrowing = false,
}: {
  item: Item;
  isGrowing?: boolean;
}) {
  switch (item.kind) {
    case "prompt":
      return <Prompt text={item.text} sent={item.sent} />;
    case "file":
      return <Attached file={item.file} />;
    case "answer":
      return <Answer text={item.text} isGrowing={isGrowing} />;
    case "thought":
      return <Thought text={item.text} />;
    case "tool":
      return <Tool use={item.use} isSubagent={item.isSubagent} />;
    case "plan":
      return <Plan plan={item.plan} />;
    case "asked":
      return <AnsweredRequest request={item.request} state={item.state} />;
    case "note":
      return (
        <p className={`border-current border-l-2 pl-3 text-sm ${NOTES[item.look]}`}>
          <Visible>{item.text}</Visible>
        </p>
      );
  }
});

const NOTES = { info: "text-muted", warning: "text-warn", error: "text-danger" } as const;

export function Prompt({
  text,
  sent,
  isSending = false,
}: {
  text: string;
  sent?: Sent | undefined;
  isSending?: boolean;
}) {
  return (
    <article
      aria-label="Prompt"
      className="ml-auto max-w-[85%] rounded-lg rounded-br-sm bg-info-ground px-4 py-2.5"
    >
      <div className="whitespace-pre-wrap">
        <Visible>{text}</Visible>
      </div>
      {isSending && <p className="pt-1 text-muted text-xs">Sending …</p>}
      {sent && (
        <p className="pt-1 text-muted text-xs">
          {sent.author && (
            <>
              <AuthorName author={sent.author} />,{" "}
            </>
          )}
          <Ago at={sent.at} />
        </p>
      )}
    </article>
  );
}

/** A file that was attached to the prompt above. */
function Attached({ file }: { file: AttachedFile }) {
  return (
    <p className="-mt-2 ml-auto max-w-[85%] rounded-md border border-line bg-surface px-3 py-1 text-sm">
      <span className="sr-only">Attached: </span>
      <Visible>{attachedText(file)}</Visible>
    </p>
  );
}

function Thought({ text }: { text: string }) {
  return (
    <details className="group rounded-md border border-line bg-surface">
      <summary className="flex min-h-9 list-none items-center gap-2 rounded-md px-3 py-1.5 text-muted text-sm hover:bg-raised">
        <span className="grow">Thought</span>
        <span aria-hidden="true" className="shrink-0 transition-transform group-open:rotate-90">
          ›
        </span>
      </summary>
      <div className="border-line border-t px-3 py-3 text-sm">
        <Answer text={text} isGrowing={false} />
      </div>
    </details>
  );
}
