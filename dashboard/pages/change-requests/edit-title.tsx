import { type FormEvent, useState } from "react";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { TITLE_MAX } from "../../../src/contract/limits.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { Failure } from "../../parts/notice.tsx";
import { useAct, type Where } from "./queries.ts";

/** Changes the title of a change request. */
export function EditTitle({ where, cr, onClose }: { where: Where; cr: ChangeRequest; onClose: () => void }) {
  const [title, setTitle] = useState(cr.title);
  const act = useAct(where);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act.mutate({ method: "PATCH", body: { title } }, { onSuccess: onClose });
  };
  return (
    <Dialog title="Edit the title" onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextField
          label="Title"
          value={title}
          maxLength={TITLE_MAX}
          required
          onChange={(event) => setTitle(event.target.value)}
        />
        <Failure error={act.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={act.isPending} disabled={title.trim() === ""}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
