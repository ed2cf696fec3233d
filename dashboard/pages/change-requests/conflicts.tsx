import { Visible } from "../../parts/visible.tsx";

/** The files that are in conflict. */
export function Conflicts({ paths }: { paths: readonly string[] }) {
  return (
    <ul aria-label="Files in conflict" className="mt-2 max-h-60 overflow-y-auto font-mono text-sm">
      {paths.map((each) => (
        <li key={each}>
          <Visible>{each}</Visible>
        </li>
      ))}
    </ul>
  );
}
