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

/** The credential for a private repository. */
export function CredentialFields({ username, token, onUsername, onToken, errors }: Props) {
  return (
    <>
      <SecretText
        label="Token, password or private key"
        hint="For https, a token with read and write access. For ssh, a private key in OpenSSH format. It is stored encrypted, sent only to this git host, and never shown again."
        value={token}
        onChange={onToken}
        error={errors.token}
      />
      <TextField
        label="Username"
        hint="Most git hosts need only a token."
        spellCheck={false}
        maxLength={NAME_MAX}
        value={username}
        onChange={onUsername}
        error={errors.username}
      />
    </>
  );
}
