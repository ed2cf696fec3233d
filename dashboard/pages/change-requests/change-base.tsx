import { useState } from "react";
import type { ChangeRequest } from "../../../src/contract/change-request.ts";
import { FormDialog } from "../../parts/dialog.tsx";
import { BranchField } from "./branch-field.tsx";
import { useAct, type Where } from "./queries.ts";

interface Props {
  where: Where;
  cr: ChangeRequest;
  onClose: () => void;
}

/** Changes the branch that an open change request is merged into. */
export function ChangeBase({ where, cr: { base_ref, head_ref }, onClose }: Props) {
  const [base, setBase] = useState("");
  const act = useAct(where);
  return (
    <FormDialog
      title="Change the base branch"
      verb="Change"
      busy={act.isPending}
      disabled={base.trim() === ""}
      error={act.error}
      onSubmit={() =>
        act.mutate({ method: "PATCH", body: { base_ref: base.trim() } }, { onSuccess: onClose })
      }
      onClose={onClose}
    >
      <BranchField
        label="Into"
        hint="The branch to merge into. Approvals are of the changes against the old one, and are removed."
        none="Choose a branch"
        input={{ value: base, onChange: ({ target }) => setBase(target.value) }}
        projectId={where.projectId}
        leftOut={[base_ref, head_ref]}
      />
    </FormDialog>
  );
}
