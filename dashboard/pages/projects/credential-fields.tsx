import { NAME_MAX } from "../../../src/contract/limits.ts";
import { TextField } from "../../parts/field.tsx";
import type { FieldProps } from "../../parts/form.tsx";
import { SecretText } from "../../parts/secret-text.tsx";

interface Props {
  username: FieldProps;
  token: FieldProps;
}

/** The credential for a private repository. */
export function CredentialFields({ username, token }: Props) {
  return (
    <>
      <SecretText
        label="Token, password or private key"
        hint="For https, a token with read and write access. For ssh, a private key in OpenSSH format. It is stored encrypted, sent only to this git host, and never shown again."
        {...token}
      />
      <TextField
        label="Username"
        hint="Most git hosts need only a token."
        spellCheck={false}
        maxLength={NAME_MAX}
        {...username}
      />
    </>
  );
}
