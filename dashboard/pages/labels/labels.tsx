import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Label } from "../../../src/contract/label.ts";
import { call } from "../../api/call.ts";
import { useGet } from "../../api/get.ts";
import { path } from "../../api/path.ts";
import { useProject } from "../../api/project.ts";
import { Button } from "../../parts/button.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Section } from "../../parts/section.tsx";
import { Visible, visibleText } from "../../parts/visible.tsx";
import { LabelChip } from "../change-requests/label-chip.tsx";
import { EditLabel } from "./edit-label.tsx";

type Open = { verb: "new" } | { verb: "edit" | "delete"; label: Label };

/** The labels of a project: lists, creates, edits and deletes them. */
export function Labels() {
  const { project_id } = useProject();
  const [open, setOpen] = useState<Open | null>(null);
  const queries = useQueryClient();
  const at = path`/projects/${project_id}/labels`;
  const { data, error, isPending, refetch } = useGet<{ labels: Label[] }>([project_id, "label"], at);
  const close = () => setOpen(null);
  const done = async () => {
    // change requests carry the labels, too
    await queries.invalidateQueries({ queryKey: [project_id] });
    close();
  };
  return (
    <Section
      title="Labels"
      about="Group change requests. Agents use labels, too, and can create them."
      actions={<Button onClick={() => setOpen({ verb: "new" })}>New label</Button>}
    >
      <Failure error={error} retry={() => void refetch()} />
      {isPending && <Loading what="Loading the labels" />}
      {data?.labels.length === 0 && <p className="text-muted">No labels yet.</p>}
      <ul className="divide-y divide-line">
        {data?.labels.map((label) => (
          <Row
            key={label.name}
            label={label}
            onEdit={() => setOpen({ verb: "edit", label })}
            onDelete={() => setOpen({ verb: "delete", label })}
          />
        ))}
      </ul>
      {open?.verb === "new" && <EditLabel at={at} label={null} onDone={done} onClose={close} />}
      {open?.verb === "edit" && <EditLabel at={at} label={open.label} onDone={done} onClose={close} />}
      {open?.verb === "delete" && <DeleteLabel at={at} label={open.label} onDone={done} onClose={close} />}
    </Section>
  );
}

interface RowProps {
  label: Label;
  onEdit: () => void;
  onDelete: () => void;
}

function Row({ label, onEdit, onDelete }: RowProps) {
  const name = visibleText(label.name);
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 py-3 first:pt-0 last:pb-0">
      <div className="min-w-0">
        <LabelChip label={label} />
        {label.description && (
          <p className="wrap-anywhere mt-1 text-muted text-sm">
            <Visible>{label.description}</Visible>
          </p>
        )}
      </div>
      <div className="flex gap-2">
        <Button onClick={onEdit} aria-label={`Edit ${name}`}>
          Edit
        </Button>
        <Button look="danger" onClick={onDelete} aria-label={`Delete ${name}`}>
          Delete
        </Button>
      </div>
    </li>
  );
}

interface DeleteProps {
  at: string;
  label: Label;
  onDone: () => Promise<void>;
  onClose: () => void;
}

function DeleteLabel({ at, label: { name }, onDone, onClose }: DeleteProps) {
  const remove = useMutation({
    mutationFn: () => call("DELETE", at + path`/${name}`),
    onSuccess: onDone,
  });
  return (
    <Confirm
      title={`Delete ${visibleText(name)}?`}
      verb="Delete the label"
      action={remove}
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      <p>You cannot undo this. All change requests lose the label.</p>
    </Confirm>
  );
}
