import { Badge } from "../../../parts/badge.tsx";
import { useCopy } from "../../../parts/command.tsx";
import { count } from "../../../parts/count.ts";
import { Visible, visibleText } from "../../../parts/visible.tsx";
import type { DiffFile } from "./files.ts";
import type { OpenFiles } from "./open-files.ts";

const QUIET = "rounded-md px-2 py-1 text-muted text-sm hover:bg-raised hover:text-ink";

interface Props {
  file: DiffFile;
  open: OpenFiles;
  /** Whether it has changed since the reader's review. */
  isNew: boolean;
}

/** The sticky header of a file. */
export function FileHead({ file, open, isNew }: Props) {
  const isOpen = open.isOpen(file);
  return (
    <div
      className={`flex min-h-[44px] flex-wrap items-center gap-x-2 border border-line bg-raised px-2 py-1 ${isOpen ? "rounded-t-md" : "rounded-md"}`}
    >
      <h3 className="min-w-0 grow">
        <button
          type="button"
          data-file-head=""
          aria-expanded={isOpen}
          onClick={() => open.setOpen(file, !isOpen)}
          className="flex max-w-full items-center gap-2 rounded-sm text-left"
        >
          <span
            aria-hidden="true"
            className={`w-4 shrink-0 transition-transform ${isOpen ? "rotate-90" : ""}`}
          >
            ›
          </span>
          <Kind file={file} />
          <span className="min-w-0 font-mono text-sm">
            {file.previousPath !== file.path && (
              <>
                <Visible>{file.previousPath}</Visible>
                <span aria-hidden="true"> → </span>
                <span className="sr-only"> is now </span>
              </>
            )}
            <Visible>{file.path}</Visible>
          </span>
        </button>
      </h3>
      {isNew && <Badge look="warn">Changed since your review</Badge>}
      <Counts file={file} />
      <CopyPath path={file.path} />
      <label className="flex items-center gap-1.5 rounded-md px-2 py-1 text-sm hover:bg-surface">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={open.isViewed(file)}
          onChange={(event) => open.setViewed(file, event.target.checked)}
        />
        Viewed
        <span className="sr-only">{visibleText(file.path)}</span>
      </label>
      <Warning file={file} />
    </div>
  );
}

const KINDS = {
  added: ["A", "Added", "bg-ok-ground text-ok"],
  modified: ["M", "Changed", "bg-info-ground text-info"],
  deleted: ["D", "Deleted", "bg-danger-ground text-danger"],
  renamed: ["R", "Renamed", "bg-info-ground text-info"],
} as const;

/** The status of a file, as the letter that git uses. */
export function Kind({ file }: { file: Pick<DiffFile, "status"> }) {
  const [letter, word, look] = KINDS[file.status];
  return (
    <span
      title={word}
      className={`flex size-5 shrink-0 items-center justify-center rounded-sm font-bold text-xs ${look}`}
    >
      <span aria-hidden="true">{letter}</span>
      <span className="sr-only">{word}</span>
    </span>
  );
}

export function Counts({
  file: { additions, deletions, binary },
}: {
  file: Pick<DiffFile, "additions" | "deletions" | "binary">;
}) {
  if (binary) return <span className="text-muted text-sm">binary</span>;
  return (
    <span className="whitespace-nowrap text-sm tabular-nums">
      <span className="text-ok">
        <span className="sr-only">added </span>+{additions}
      </span>{" "}
      <span className="text-danger">
        <span className="sr-only">removed </span>−{deletions}
      </span>
    </span>
  );
}

function CopyPath({ path }: { path: string }) {
  const { copy, state } = useCopy(path);
  return (
    <button type="button" className={QUIET} onClick={copy} aria-label={`Copy path ${visibleText(path)}`}>
      <span aria-live="polite">{{ idle: "Copy path", copied: "Copied", failed: "Copy failed" }[state]}</span>
    </button>
  );
}

/** Warns about characters that make code look different from what it does. */
function Warning({ file: { hidden } }: { file: DiffFile }) {
  const parts = [
    hidden.turning > 0
      ? `${count(hidden.turning, "character")} that ${hidden.turning === 1 ? "changes" : "change"} the order in which text is shown`
      : "",
    hidden.unseen > 0 ? count(hidden.unseen, "invisible character") : "",
  ].filter(Boolean);
  if (parts.length === 0) return null;
  return (
    <p className="basis-full rounded-md bg-danger-ground px-2 py-1 text-danger text-sm">
      <strong>This file may be misleading:</strong> it has {parts.join(" and ")}. They are shown as code
      points, such as U+202E.
    </p>
  );
}
