import { memo } from "react";
import { Markdown } from "../../../parts/markdown.tsx";
import { Visible } from "../../../parts/visible.tsx";
import { blocksOf } from "./blocks.ts";

/** Longer texts are shown without formatting: rendering their Markdown is slow. */
const MARKDOWN_MAX = 60_000;

/** An answer of the agent. While it grows, only its last block is rendered again. */
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
