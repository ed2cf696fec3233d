import type { Label } from "../../../src/contract/label.ts";
import { LABEL_DESCRIPTION_MAX, LABEL_NAME_MAX } from "../../../src/contract/limits.ts";
import { call } from "../../api/call.ts";
import { path } from "../../api/path.ts";
import { FormDialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { useForm } from "../../parts/form.tsx";
import { visibleText } from "../../parts/visible.tsx";

/** The color that a new label begins with: GitHub's. */
const FIRST_COLOR = "ededed";

interface Props {
  /** API path of the project's labels, below `/v1`. */
  at: string;
  /** null: a new label. */
  label: Label | null;
  onDone: () => Promise<void>;
  onClose: () => void;
}

/** Dialog for the name, color and description of a label. */
export function EditLabel({ at, label, onDone, onClose }: Props) {
  const form = useForm(
    {
      name: label?.name ?? "",
      color: `#${label?.color ?? FIRST_COLOR}`,
      description: label?.description ?? "",
    },
    {
      send: ({ name, color, description }) => {
        const body = { name: name.trim(), color: color.slice(1), description: description.trim() || null };
        return label ? call("PATCH", at + path`/${label.name}`, { body }) : call("POST", at, { body });
      },
      onSuccess: onDone,
    },
  );
  return (
    <FormDialog
      title={label ? `Edit ${visibleText(label.name)}` : "New label"}
      verb={label ? "Save the label" : "Create the label"}
      busy={form.isPending}
      error={form.rest}
      onSubmit={form.submit}
      onClose={onClose}
    >
      <TextField label="Name" required maxLength={LABEL_NAME_MAX} {...form.field("name")} />
      <TextField label="Description" maxLength={LABEL_DESCRIPTION_MAX} {...form.field("description")} />
      <div className="w-24">
        <TextField label="Color" type="color" {...form.field("color")} />
      </div>
    </FormDialog>
  );
}
