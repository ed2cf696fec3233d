import type { ManifestError } from "../../src/contract/manifest/manifest.ts";
import { Visible } from "./visible.tsx";

type Problem = Pick<ManifestError, "line" | "column" | "severity" | "message">;

/** The problems of a manifest, each with its position. Messages may quote the file, so they are not trusted. */
export function ManifestProblems({ errors }: { errors: readonly Problem[] }) {
  const counted = errors.map((error, at) => ({ ...error, at }));
  return (
    <ul
      aria-label="Problems of the manifest"
      className="mt-2 flex max-h-80 flex-col gap-1 overflow-y-auto text-sm"
    >
      {counted.map(({ at, line, column, severity, message }) => (
        <li key={at} className="flex flex-wrap gap-x-2">
          <span className={`font-medium ${severity === "error" ? "text-danger" : "text-warn"}`}>
            {severity === "error" ? "Error" : "Warning"}
          </span>
          <span className="text-muted tabular-nums">
            line {line}, column {column}
          </span>
          <Visible>{message}</Visible>
        </li>
      ))}
    </ul>
  );
}
