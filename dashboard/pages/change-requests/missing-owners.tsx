import type { MissingReview } from "../../../src/contract/code-owners.ts";
import { Visible } from "../../parts/visible.tsx";

/** The changed files that no code owner has approved, with who could. */
export function MissingOwners({ missing }: { missing: readonly MissingReview[] }) {
  return (
    <ul
      aria-label="Missing code owners"
      className="mt-2 flex max-h-60 flex-col gap-2 overflow-y-auto text-sm"
    >
      {missing.map(({ line, files, total, owners, problem }) => (
        <li key={line}>
          {problem === null ? (
            <>
              Waits for <Visible>{owners.map(({ name }) => name).join(" or ")}</Visible>
            </>
          ) : (
            <span className="text-danger">
              <Visible>{problem}</Visible>
            </span>
          )}
          <ul className="ml-4 font-mono">
            {files.map((file) => (
              <li key={file}>
                <Visible>{file}</Visible>
              </li>
            ))}
          </ul>
          {total > files.length && <p className="ml-4 text-muted">and {total - files.length} more</p>}
        </li>
      ))}
    </ul>
  );
}
