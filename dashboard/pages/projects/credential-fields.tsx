import type { ChangeEvent } from "react";
import { NAME_MAX } from "../../../src/contract/limits.ts";
import { TextField } from "../../parts/field.tsx";
import { SecretText } from "../../parts/secret-text.tsx";

interface Props {
  username: string;
  token: string;
  onUsername: (event: ChangeEvent<HTMLInputElement>) => void;
  onToken: (event: ChangeEvent<HTMLTextAreaElement>) => void;
  errors: { username: string | undefined; token: string | undefined };
}

/** By what svc reaches a private repository. */
export function CredentialFields({ username, token, onUsername, onToken, errors }: Props) {
  return (
    <>
      <SecretText
        label="Token, password or private key"
        hint="For https a token that may read and write; for ssh a private key in OpenSSH form. It is stored encrypted, sent to this git host only, and never shown again."
        value={token}
        onChange={onToken}
        error={errors.token}
      />
      <TextField
        label="User name that goes with it"
        hint="Most git hosts need none beside a token."
        spellCheck={false}
        maxLength={NAME_MAX}
        value={username}
        onChange={onUsername}
        error={errors.username}
      />
    </>
  );
}
