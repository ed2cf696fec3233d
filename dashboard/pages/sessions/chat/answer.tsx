import { memo } from "react";
import { Markdown } from "../../../parts/markdown.tsx";
import { Visible } from "../../../parts/visible.tsx";
import { blocksOf } from "./blocks.ts";

/** A longer text is shown as it is: making a page of its markup would hold the page up. */
const MARKDOWN_MAX = 60_000;

/** What the agent says. While it is said, only its last block is drawn anew. */
export const Answer = memo(function Answer({ text, isGrowing }: { text: string; isGrowing: boolean }) {
  if (text.length > MARKDOWN_MAX) {
    return (
      <p className="whitespace-pre-wrap">
        <Visible>{text}</Visible>
      </p>
    );
  }
  if (!isGrowing) return <Markdown>{text}</Markdown>;
  return (
    <div className="flex flex-col gap-2">
      {blocksOf(text).map(({ at, text: block }) => (
        <Block key={at} text={block} />
      ))}
    </div>
  );
});

const Block = memo(function Block({ text }: { text: string }) {
  return <Markdown>{text}</Markdown>;
});
