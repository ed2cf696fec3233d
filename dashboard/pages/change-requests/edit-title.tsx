import { useState } from "react";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { TITLE_MAX } from "../../../src/contract/limits.ts";
import { FormDialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { useAct, type Where } from "./queries.ts";

/** Changes the title of a change request. */
export function EditTitle({ where, cr, onClose }: { where: Where; cr: ChangeRequest; onClose: () => void }) {
  const [title, setTitle] = useState(cr.title);
  const act = useAct(where);
  return (
    <FormDialog
      title="Edit the title"
      verb="Save"
      busy={act.isPending}
      disabled={title.trim() === ""}
      error={act.error}
      onSubmit={() => act.mutate({ method: "PATCH", body: { title } }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <TextField
        label="Title"
        value={title}
        maxLength={TITLE_MAX}
        required
        onChange={(event) => setTitle(event.target.value)}
      />
    </FormDialog>
  );
}
