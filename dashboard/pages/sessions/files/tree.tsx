import { useState } from "react";
import type { DiffFile } from "../../../../src/contract/change-request.ts";
import type { WorkspaceEntry } from "../../../../src/contract/workspace.ts";
import { Failure } from "../../../parts/notice.tsx";
import { Visible, visibleText } from "../../../parts/visible.tsx";
import { Kind } from "../../change-requests/diff/file-head.tsx";
import { type At, type Shown, useFolder } from "./queries.ts";

interface Props {
  shown: Shown;
  /** By path. */
  changed: ReadonlyMap<string, DiffFile>;
  chosen: At | null;
  onChoose: (at: At) => void;
}

const ROW =
  "flex w-full min-w-0 items-center gap-1.5 rounded-md px-1.5 py-1 text-left text-sm hover:bg-raised aria-pressed:bg-raised aria-pressed:font-medium";

/** The files of the workspace. A folder is read when it is opened. */
export function Tree(props: Props) {
  return <Folder {...props} at={{ path: "" }} label="Files of the workspace" />;
}

function Folder({ at, label, ...props }: Props & { at: At; label: string }) {
  const { data, error, refetch } = useFolder(props.shown, at);
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <p className="px-1.5 py-1 text-muted text-sm">Loading.</p>;
  return (
    <>
      <ul aria-label={label}>
        {data.entries.map((entry) => (
          <li key={entry.path_base64 ?? entry.path}>
            <Entry {...props} entry={entry} />
          </li>
        ))}
      </ul>
      {data.entries.length === 0 && <p className="px-1.5 py-1 text-muted text-sm">The folder is empty.</p>}
      {data.more > 0 && <p className="px-1.5 py-1 text-muted text-sm">And {data.more} more.</p>}
    </>
  );
}

function Entry({ entry, ...props }: Props & { entry: WorkspaceEntry }) {
  const { changed, chosen, onChoose } = props;
  const [isOpen, setIsOpen] = useState(false);
  const name = (
    <span className="min-w-0 truncate">
      <Visible>{entry.name}</Visible>
    </span>
  );
  if (entry.type !== "directory") {
    const change = changed.get(entry.path);
    const isChosen =
      chosen !== null && chosen.path === entry.path && chosen.path_base64 === entry.path_base64;
    return (
      <button type="button" className={ROW} aria-pressed={isChosen} onClick={() => onChoose(entry)}>
        <span className="w-3 shrink-0" />
        {name}
        {change && (
          <span className="ml-auto">
            <Kind file={change} />
          </span>
        )}
      </button>
    );
  }
  return (
    <>
      <button type="button" className={ROW} aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        <span aria-hidden="true" className={`w-3 shrink-0 text-muted ${isOpen ? "rotate-90" : ""}`}>
          ›
        </span>
        {name}
      </button>
      {isOpen && (
        <div className="pl-3">
          <Folder {...props} at={entry} label={visibleText(entry.name)} />
        </div>
      )}
    </>
  );
}
