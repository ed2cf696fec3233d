import { DEFAULT_AUDIENCE } from "../../../src/contract/secret-audience.ts";
import { call } from "../../api/call.ts";
import { FormDialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { useForm } from "../../parts/form.tsx";
import { SecretText } from "../../parts/secret-text.tsx";
import type { SecretRow } from "./rows.ts";

interface Props {
  /** API path of the project's secrets, below `/v1`. */
  at: string;
  /** null: a new secret. */
  row: SecretRow | null;
  onDone: () => Promise<void>;
  onClose: () => void;
}

/** Dialog for the value of a secret, and for its name if it is new. */
export function SetSecret({ at, row, onDone, onClose }: Props) {
  const form = useForm(
    { name: row?.name ?? "", value: "", for: (row?.audience ?? DEFAULT_AUDIENCE).join(", ") },
    {
      send: ({ name, value, for: audience }) => {
        const entries = audience.split(",").map((entry) => entry.trim());
        return call("POST", at, { body: { name: name.trim(), value, for: entries } });
      },
      onSuccess: onDone,
    },
  );
  const verb = row?.updatedAt ? "Replace" : "Set";
  return (
    <FormDialog
      title={row ? `${verb} ${row.name}` : "New secret"}
      verb={`${verb} the secret`}
      busy={form.isPending}
      error={row && form.field("name").error ? form.error : form.rest}
      onSubmit={form.submit}
      onClose={onClose}
    >
      {!row && (
        <TextField
          label="Name"
          hint="An environment variable: A-Z, 0-9 and _."
          placeholder="ANTHROPIC_API_KEY"
          required
          spellCheck={false}
          autoCapitalize="characters"
          {...form.field("name")}
        />
      )}
      <SecretText
        label="Value"
        hint={
          row?.updatedAt
            ? "It replaces the current value, also in running sandboxes."
            : "Up to 64 KiB, one or more lines."
        }
        {...form.field("value")}
      />
      <TextField
        label="For"
        hint="Where it is injected, separated by commas: sessions, builds, apps, apps:<slug>, previews, triggers:<slug>, checks, connectors."
        required
        spellCheck={false}
        {...form.field("for")}
      />
    </FormDialog>
  );
}
