import { useState } from "react";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { Ago } from "../../parts/ago.tsx";
import { AuthorName } from "../../parts/author-name.tsx";
import { Button } from "../../parts/button.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { useRestoreFocus } from "../../parts/restore-focus.ts";
import { Composer } from "./composer.tsx";
import { useAct, type Where } from "./queries.ts";

/** The description of a change request. */
export function Description({ where, cr }: { where: Where; cr: ChangeRequest }) {
  const [isEditing, setIsEditing] = useState(false);
  const act = useAct(where);
  const [section, returnFocus] = useRestoreFocus<HTMLElement>();
  const stop = () => {
    setIsEditing(false);
    returnFocus();
  };
  return (
    <section
      ref={section}
      tabIndex={-1}
      aria-label="Description"
      className="rounded-lg border border-line bg-surface"
    >
      <div className="flex min-h-11 items-center gap-2 border-line border-b px-4 text-muted text-sm">
        <h2 className="sr-only">Description</h2>
        <span>
          <strong className="font-semibold text-ink">
            <AuthorName author={cr.author} />
          </strong>{" "}
          opened this <Ago at={cr.created_at} />
        </span>
        {!isEditing && (
          <Button
            look="quiet"
            className="ml-auto text-sm"
            aria-label="Edit the description"
            onClick={() => setIsEditing(true)}
          >
            Edit
          </Button>
        )}
      </div>
      <div className="p-4">
        {isEditing ? (
          <Composer
            draft={`description ${cr.cr_id}`}
            label="Description"
            verb="Save"
            initial={cr.description}
            act={act}
            request={(description) => ({ method: "PATCH", body: { description } })}
            onClose={stop}
          />
        ) : cr.description.trim() === "" ? (
          <p className="text-muted">No description.</p>
        ) : (
          <Markdown>{cr.description}</Markdown>
        )}
      </div>
    </section>
  );
}
