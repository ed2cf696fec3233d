import { Button } from "../../../parts/button.tsx";
import { Visible, visibleText } from "../../../parts/visible.tsx";
import type { DiffFile } from "./files.ts";
import type { Hunk } from "./patch.ts";
import { Writer } from "./writer.tsx";

/** The position of a hunk in its file. */
export function HunkHead({ hunk, path }: { hunk: Hunk; path: string }) {
  const { header, section } = hunk;
  const place = header.slice(0, header.length - section.length).trim();
  return (
    <div className="flex h-[28px] items-center gap-3 overflow-hidden bg-info-ground px-3 text-info text-xs">
      <span className="whitespace-nowrap">{place}</span>
      <span className="truncate">
        <Visible>{section}</Visible>
      </span>
      <Writer hunk={hunk} path={path} />
    </div>
  );
}

export function Remark({ children }: { children: string }) {
  return (
    <p className="border-line border-b bg-surface px-3 py-1 font-sans text-muted text-sm/[20px]">
      {children}
    </p>
  );
}

const REASONS = {
  large: "Large file",
  generated: "Generated file",
} as const;

/** Shown instead of the lines of a file that is collapsed by default. */
export function FoldedFile({ file, onWanted }: { file: DiffFile; onWanted: (file: DiffFile) => void }) {
  if (file.folded === "binary") {
    return (
      <p className="bg-surface px-3 py-6 text-center font-sans text-muted text-sm">Binary file not shown.</p>
    );
  }
  return (
    <div className="flex flex-wrap items-center justify-center gap-3 bg-surface px-3 py-4 font-sans text-muted text-sm">
      <span>
        {REASONS[file.folded ?? "large"]}: {file.additions + file.deletions} changed lines are not shown.
      </span>
      <Button onClick={() => onWanted(file)}>
        Show them
        <span className="sr-only"> in {visibleText(file.path)}</span>
      </Button>
    </div>
  );
}
