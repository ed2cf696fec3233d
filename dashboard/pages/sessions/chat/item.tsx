import { memo } from "react";
import { type AttachedFile, attachedText } from "../../../../src/contract/attachment.ts";
import type { Author } from "../../../../src/contract/author.ts";
import { Ago } from "../../../parts/ago.tsx";
import { AuthorName } from "../../../parts/author-name.tsx";
import { Visible } from "../../../parts/visible.tsx";
import { Answer } from "./answer.tsx";
import { AnsweredRequest, Plan } from "./asked.tsx";
import { Folded } from "./folded.tsx";
import { Tool } from "./tool.tsx";
import type { Item } from "./turn.ts";

/** An item of a conversation. */
export const OneItem = memo(function OneItem({
  item,
  isGrowing = false,
}: {
  item: Item;
  isGrowing?: boolean;
}) {
  switch (item.kind) {
    case "prompt":
      return <Prompt text={item.text} sent={item} />;
    case "file":
      return <Attached file={item.file} />;
    case "answer":
      return <Answer text={item.text} isGrowing={isGrowing} />;
    case "thought":
      return <Thought id={item.key} text={item.text} />;
    case "tool":
      return (
        <Tool item={item} inner={() => item.inner.map((each) => <OneItem key={each.key} item={each} />)} />
      );
    case "plan":
      return <Plan plan={item.plan} />;
    case "asked":
      return <AnsweredRequest request={item.request} state={item.state} />;
    case "sandbox":
      return <NewSandbox />;
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
  sent?: { author: Author | null; at: string };
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

function Thought({ id, text }: { id: string; text: string }) {
  return (
    <Folded id={id} summary={<span className="grow text-muted">Thought</span>}>
      {() => <Answer text={text} isGrowing={false} />}
    </Folded>
  );
}

function NewSandbox() {
  return (
    <p className="flex items-center gap-3 py-2 text-muted text-sm before:h-px before:grow before:bg-line after:h-px after:grow after:bg-line">
      A new sandbox starts here.
    </p>
  );
}
