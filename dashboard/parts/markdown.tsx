import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { visibleText } from "./visible.tsx";

const LINK = {
  rel: "noopener noreferrer nofollow",
  target: "_blank",
  className: "text-accent underline",
};

/** HTML in the text is shown as text. Images become links, so that the page fetches nothing. */
const PARTS: Components = {
  a: ({ href, children }) => (
    <a href={href} {...LINK}>
      {children}
    </a>
  ),
  img: ({ src, alt }) => (
    <a href={typeof src === "string" ? src : undefined} {...LINK}>
      {alt || "image"}
    </a>
  ),
  h3: ({ children }) => <h3 className="mt-3 font-semibold text-lg">{children}</h3>,
  h4: ({ children }) => <h4 className="mt-3 font-semibold">{children}</h4>,
  h5: ({ children }) => <h5 className="mt-2 font-semibold">{children}</h5>,
  h6: ({ children }) => <h6 className="mt-2 font-medium">{children}</h6>,
  // the box of a task list
  input: ({ checked }) => (
    <input type="checkbox" disabled checked={checked === true} aria-label={checked ? "Done" : "Not done"} />
  ),
  ul: ({ children }) => <ul className="list-disc pl-6">{children}</ul>,
  ol: ({ children, start }) => (
    <ol className="list-decimal pl-6" start={start}>
      {children}
    </ol>
  ),
  blockquote: ({ children }) => (
    <blockquote className="border-edge border-l-2 pl-3 text-muted">{children}</blockquote>
  ),
  pre: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <pre tabIndex={0} className="overflow-x-auto rounded-md bg-raised p-3 text-sm">
      {children}
    </pre>
  ),
  code: ({ children }) => (
    <code className="rounded-sm bg-raised px-1 font-mono text-[0.9em]">{children}</code>
  ),
  table: ({ children }) => (
    <div className="overflow-x-auto">
      <table className="[&_td]:border [&_td]:border-line [&_td]:px-2 [&_th]:border [&_th]:border-line [&_th]:px-2">
        {children}
      </table>
    </div>
  ),
};

/** Renders untrusted GitHub Flavored Markdown: no scripts, no requests, no hidden characters. */
export function Markdown({ children }: { children: string }) {
  return (
    <div className="flex flex-col gap-2 wrap-anywhere">
      <ReactMarkdown
        remarkPlugins={[remarkGfm]}
        rehypePlugins={[() => showHidden, () => (tree: Node) => outline(tree)]}
        components={PARTS}
      >
        {visibleText(children)}
      </ReactMarkdown>
    </div>
  );
}

/** The part of hast that is used here. */
interface Node {
  value?: unknown;
  tagName?: string;
  children?: Node[];
}

/** Shows hidden characters that the Markdown contains as character references (`&#x202e;`). */
function showHidden(node: Node): void {
  if (typeof node.value === "string") node.value = visibleText(node.value);
  for (const child of node.children ?? []) showHidden(child);
}

/** The largest level of a heading below those of the page, which are two. */
const LEVEL_MAX = 4;

/** Puts headings below those of the page, without a gap between a heading and the one before it (WCAG 2.2, 1.3.1). */
function outline(node: Node, before = { level: 0 }): void {
  const own = Number(/^h([1-6])$/.exec(node.tagName ?? "")?.[1]);
  if (own > 0) {
    before.level = Math.min(own, before.level + 1, LEVEL_MAX);
    node.tagName = `h${before.level + 2}`;
  }
  for (const child of node.children ?? []) outline(child, before);
}
