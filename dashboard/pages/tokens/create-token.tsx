import type { MintedUserToken } from "../../../src/contract/account.ts";
import { NAME_MAX } from "../../../src/contract/limits.ts";
import { call } from "../../api/call.ts";
import { FormDialog } from "../../parts/dialog.tsx";
import { Options, Select, TextField } from "../../parts/field.tsx";
import { useForm } from "../../parts/form.tsx";

const DAY_MS = 86_400_000;
/** Lifetimes of a token, in days; 0: no expiry. */
const LIFETIMES = [
  [30, "30 days"],
  [90, "90 days"],
  [365, "1 year"],
  [0, "No expiry"],
] as const;

interface Props {
  at: string;
  canExpire: boolean;
  onMade: (token: MintedUserToken) => void;
  onClose: () => void;
}

/** Dialog for the name and the lifetime of a new token. */
export function CreateToken({ at, canExpire, onMade, onClose }: Props) {
  const form = useForm(
    { name: "", expires_at: "90" },
    {
      send: ({ name, expires_at }) => {
        const days = canExpire ? Number(expires_at) : 0;
        const expires = days > 0 ? new Date(Date.now() + days * DAY_MS).toISOString() : null;
        return call<MintedUserToken>("POST", at, { body: { name, ...(expires && { expires_at: expires }) } });
      },
      onSuccess: onMade,
    },
  );
  return (
    <FormDialog
      title="New token"
      verb="Create the token"
      busy={form.isPending}
      error={form.rest}
      onSubmit={form.submit}
      onClose={onClose}
    >
      <TextField
        label="Token name"
        placeholder="Laptop"
        required
        maxLength={NAME_MAX}
        {...form.field("name")}
      />
      {canExpire && (
        <Select label="Expires after" {...form.field("expires_at")}>
          <Options of={LIFETIMES} />
        </Select>
      )}
    </FormDialog>
  );
}
