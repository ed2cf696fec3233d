import type { ComponentProps } from "react";
import { PASSWORD_MAX, PASSWORD_MIN } from "../../../src/contract/limits.ts";
import { TextField } from "../../parts/field.tsx";

/** A field for a new password. */
export function PasswordField({ label = "Password", ...rest }: Partial<ComponentProps<typeof TextField>>) {
  return (
    <TextField
      label={label}
      type="password"
      name="new-password"
      autoComplete="new-password"
      hint={`At least ${PASSWORD_MIN} characters. Use three or four unrelated words, for example.`}
      required
      minLength={PASSWORD_MIN}
      maxLength={PASSWORD_MAX}
      {...rest}
    />
  );
}
