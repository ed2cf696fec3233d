import type { MintedUserToken } from "../../../src/contract/account.ts";
import { NAME_MAX } from "../../../src/contract/limits.ts";
import type { Scope } from "../../../src/contract/scope.ts";
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

const SCOPES: readonly (readonly [Scope, string])[] = [
  ["write", "Everything that I may do"],
  ["read", "Read, and fetch with git"],
  ["git:read", "Fetch with git"],
  ["git:write", "Fetch and push with git"],
  ["checks", "Report commit statuses and checks"],
];

interface Props {
  at: string;
  onMade: (token: MintedUserToken) => void;
  onClose: () => void;
}

/** Dialog for the name, the scope and the lifetime of a new token. */
export function CreateToken({ at, onMade, onClose }: Props) {
  const form = useForm(
    { name: "", scopes: "write", expires_at: "90" },
    {
      send: ({ name, scopes, expires_at }) => {
        const days = Number(expires_at);
        const expires = days > 0 ? new Date(Date.now() + days * DAY_MS).toISOString() : null;
        const body = { name, scopes: [scopes], ...(expires && { expires_at: expires }) };
        return call<MintedUserToken>("POST", at, { body });
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
      <Select label="The token may" {...form.field("scopes")}>
        <Options of={SCOPES} />
      </Select>
      <Select label="Expires after" {...form.field("expires_at")}>
        <Options of={LIFETIMES} />
      </Select>
    </FormDialog>
  );
}
