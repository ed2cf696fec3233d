import type { DiffFile } from "../../src/contract/change-request.ts";
import { Visible } from "./visible.tsx";

/** The files of a diff, with the numbers of their changed lines. */
export function ChangedFiles({ files }: { files: readonly DiffFile[] }) {
  return (
    <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
      {files.map(({ path: name, status, additions, deletions, binary }) => (
        <li key={name} className="flex flex-wrap gap-x-3 px-4 py-1.5 text-sm">
          <span className="min-w-0 grow font-mono">
            <Visible>{name}</Visible>
          </span>
          <span className="text-muted">{status}</span>
          {binary ? (
            <span className="text-muted">binary</span>
          ) : (
            <span>
              <span className="text-ok">+{additions}</span> <span className="text-danger">-{deletions}</span>
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
