import { useState } from "react";
import type { Annotation, CheckRun as Run } from "../../../src/contract/check-run.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { Button } from "../../parts/button.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";
import type { Where } from "./queries.ts";

/** Annotations that are shown. */
const SHOWN = 100;

/** A button that shows what a check run says: its summary, its annotations and its text. */
export function CheckRun({ where, id, name }: { where: Where; id: number; name: string }) {
  const [isShown, setIsShown] = useState(false);
  return (
    <div className="ml-5 flex flex-col gap-2">
      <Button
        className="self-start"
        aria-expanded={isShown}
        aria-label={`Output of ${name}`}
        onClick={() => setIsShown(!isShown)}
      >
        Output
      </Button>
      {isShown && <Output where={where} id={id} name={name} />}
    </div>
  );
}

function Output({ where, id, name }: { where: Where; id: number; name: string }) {
  const { projectId } = where;
  const at = path`/projects/${projectId}/check-runs/${id}`;
  // an event of a check refetches it with the change request
  const key = [projectId, "change_request", where.cr, "check-run", id];
  const run = useGet<Run>(key, at);
  const noted = useGet<Annotation[]>([...key, "annotations"], `${at}/annotations?per_page=${SHOWN}`);
  const annotations = noted.data ?? [];
  if (run.data === undefined) return <Failure error={run.error} />;
  const { summary, text, annotations_count: total } = run.data.output;
  return (
    <div className="flex flex-col gap-2">
      {!summary && !text && total === 0 && <p className="text-muted">It has no output.</p>}
      {summary && <Markdown>{summary}</Markdown>}
      {annotations.length > 0 && (
        <ul aria-label={`Annotations of ${name}`} className="flex flex-col gap-1">
          {annotations.map((annotation, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: annotations are only ever added at the end
            <Note key={index} annotation={annotation} />
          ))}
        </ul>
      )}
      {total > annotations.length && noted.data && (
        <p className="text-muted">{`These are the first ${annotations.length} of ${total} annotations.`}</p>
      )}
      {text && <Markdown>{text}</Markdown>}
      <Failure error={run.error ?? noted.error} />
    </div>
  );
}

const LOOKS = { notice: "text-muted", warning: "text-muted", failure: "text-danger" } as const;

/** An annotation: its lines, level, title and message. */
export function Note({ annotation }: { annotation: Annotation }) {
  const { path: file, start_line, end_line, annotation_level: level, title, message } = annotation;
  const lines = start_line === end_line ? `${start_line}` : `${start_line}–${end_line}`;
  return (
    <li className="wrap-anywhere">
      <code className="font-mono text-[0.9em]">
        <Visible>{`${file}:${lines}`}</Visible>
      </code>{" "}
      <span className={LOOKS[level]}>{level}</span>
      {title && (
        <>
          {": "}
          <Visible>{title}</Visible>
        </>
      )}
      <p className="whitespace-pre-wrap">
        <Visible>{message}</Visible>
      </p>
    </li>
  );
}
