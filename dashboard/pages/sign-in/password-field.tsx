import type { ComponentProps } from "react";
import { TextField } from "../../parts/field.tsx";

const MIN = 8;
const MAX = 256;

/** A password that is chosen now. */
export function PasswordField({ label = "Password", ...rest }: Partial<ComponentProps<typeof TextField>>) {
  return (
    <TextField
      label={label}
      type="password"
      name="new-password"
      autoComplete="new-password"
      hint={`At least ${MIN} characters. Three or four words that nobody else would put together are good.`}
      required
      minLength={MIN}
      maxLength={MAX}
      {...rest}
    />
  );
}
