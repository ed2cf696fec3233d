import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { MintedUserToken } from "../../../src/contract/account.ts";
import { NAME_MAX } from "../../../src/contract/limits.ts";
import { call } from "../../api/call.ts";
import { byField } from "../../api/failure.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Select, TextField } from "../../parts/field.tsx";
import { Failure } from "../../parts/notice.tsx";

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
  const [name, setName] = useState("");
  const [days, setDays] = useState(90);
  const make = useMutation({
    mutationFn: () => {
      const expires = canExpire && days > 0 ? new Date(Date.now() + days * DAY_MS).toISOString() : null;
      return call<MintedUserToken>("POST", at, { body: { name, ...(expires && { expires_at: expires }) } });
    },
    onSuccess: onMade,
  });
  const errors = byField(make.error, ["name", "expires_at"]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  return (
    <Dialog title="New token" onClose={onClose}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextField
          label="Token name"
          placeholder="Laptop"
          required
          maxLength={NAME_MAX}
          value={name}
          onChange={(event) => setName(event.target.value)}
          error={errors.of("name")}
        />
        {canExpire && (
          <Select
            label="Expires after"
            value={days}
            onChange={(event) => setDays(Number(event.target.value))}
            error={errors.of("expires_at")}
          >
            {LIFETIMES.map(([count, words]) => (
              <option key={count} value={count}>
                {words}
              </option>
            ))}
          </Select>
        )}
        <Failure error={errors.rest} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={make.isPending}>
            Create the token
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
