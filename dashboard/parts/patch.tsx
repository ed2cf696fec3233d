import { ScrollBox } from "./scroll-box.tsx";
import { Visible } from "./visible.tsx";

/** The number of lines that are shown. */
const LINES_MAX = 1_000;

/** A patch. The first character of a line marks it as added or removed, not only its colour. */
export function Patch({ children }: { children: string }) {
  const all = children.replace(/\n$/, "").split("\n");
  const lines = all.slice(0, LINES_MAX).map((text, at) => ({ at, text }));
  return (
    <>
      <ScrollBox label="Patch" className="max-h-[60dvh] rounded-sm bg-raised py-2">
        <pre className="text-xs leading-5">
          <code className="block w-max min-w-full">
            {lines.map(({ at, text }) => (
              <span key={at} className={`block px-3 ${lookOf(text)}`}>
                <Visible>{text === "" ? " " : text}</Visible>
              </span>
            ))}
          </code>
        </pre>
      </ScrollBox>
      {all.length > LINES_MAX && (
        <p className="mt-1 text-muted text-sm">{all.length - LINES_MAX} more lines are not shown.</p>
      )}
    </>
  );
}

function lookOf(line: string): string {
  if (/^(?:\+\+\+|---|diff |index |Index: |===)/.test(line)) return "text-muted";
  if (line.startsWith("@@")) return "text-info";
  if (line.startsWith("+")) return "bg-added";
  return line.startsWith("-") ? "bg-removed" : "";
}
