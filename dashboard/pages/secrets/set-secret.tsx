import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { DEFAULT_AUDIENCE } from "../../../src/contract/secret-audience.ts";
import { call } from "../../api/call.ts";
import { byField } from "../../api/failure.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { Failure } from "../../parts/notice.tsx";
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
  const [name, setName] = useState(row?.name ?? "");
  const [value, setValue] = useState("");
  const [audience, setAudience] = useState((row?.audience ?? DEFAULT_AUDIENCE).join(", "));
  const set = useMutation({
    mutationFn: () => {
      const entries = audience.split(",").map((entry) => entry.trim());
      return call("POST", at, { body: { name: name.trim(), value, for: entries } });
    },
    onSuccess: onDone,
  });
  const errors = byField(set.error, ["name", "value", "for"]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    set.mutate();
  };
  const verb = row?.updatedAt ? "Replace" : "Set";
  return (
    <Dialog title={row ? `${verb} ${row.name}` : "New secret"} onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        {!row && (
          <TextField
            label="Name"
            hint="An environment variable: A-Z, 0-9 and _."
            placeholder="ANTHROPIC_API_KEY"
            required
            spellCheck={false}
            autoCapitalize="characters"
            value={name}
            onChange={(event) => setName(event.target.value)}
            error={errors.of("name")}
          />
        )}
        <SecretText
          label="Value"
          hint={
            row?.updatedAt
              ? "It replaces the current value, also in running sandboxes."
              : "Up to 64 KiB, one or more lines."
          }
          value={value}
          onChange={(event) => setValue(event.target.value)}
          error={errors.of("value")}
        />
        <TextField
          label="For"
          hint="Where it is injected, separated by commas: sessions, builds, apps, apps:<slug>, triggers:<slug>."
          required
          spellCheck={false}
          value={audience}
          onChange={(event) => setAudience(event.target.value)}
          error={errors.of("for")}
        />
        <Failure error={row && errors.of("name") ? set.error : errors.rest} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={set.isPending}>
            {verb} the secret
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
