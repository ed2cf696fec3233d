import { useState } from "react";
import type { Annotation } from "../../../src/contract/check-run.ts";
import { Button } from "../../parts/button.tsx";
import { count } from "../../parts/count.ts";
import { Visible } from "../../parts/visible.tsx";
import { Note } from "./check-run.tsx";
import type { PlacedAnnotation } from "./diff/annotations.ts";

/** The most severe first. */
const LEVELS: readonly Annotation["annotation_level"][] = ["failure", "warning", "notice"];

/** What checks say of a line: how many annotations of each level, and the annotations on demand. */
export function LineAnnotations({ annotations }: { annotations: readonly PlacedAnnotation[] }) {
  const [isShown, setIsShown] = useState(false);
  const counts = LEVELS.flatMap((level) => {
    const n = annotations.filter(({ annotation }) => annotation.annotation_level === level).length;
    return n > 0 ? [count(n, level)] : [];
  });
  return (
    <div className="flex flex-col gap-2 rounded-md border border-line bg-surface px-3 py-2 text-sm">
      <Button
        look="quiet"
        className="self-start text-sm"
        aria-expanded={isShown}
        onClick={() => setIsShown(!isShown)}
      >
        {`Checks: ${counts.join(", ")}`}
      </Button>
      {isShown && (
        <ul aria-label="Annotations of checks" className="flex flex-col gap-2">
          {annotations.map(({ id, check, annotation }) => (
            <li key={id}>
              <span className="text-muted">
                <Visible>{check}</Visible>
              </span>
              <ul>
                <Note annotation={annotation} />
              </ul>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
