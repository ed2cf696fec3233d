import { NAME_MAX } from "../../../src/contract/limits.ts";
import { TextField } from "../../parts/field.tsx";
import type { FieldOf } from "../../parts/form.tsx";
import { PasswordField } from "./password-field.tsx";

interface Props {
  field: FieldOf<{ name: string; email: string; password: string }>;
  /** The link determines the address. */
  isEmailFixed?: boolean;
}

/** Name, e-mail address and password of a new user. */
export function NewUserFields({ field, isEmailFixed = false }: Props) {
  return (
    <>
      <TextField
        label="Your name"
        name="name"
        autoComplete="name"
        required
        maxLength={NAME_MAX}
        {...field("name")}
      />
      <TextField
        label="E-mail"
        type="email"
        name="email"
        autoComplete="username"
        required
        readOnly={isEmailFixed}
        {...field("email")}
      />
      <PasswordField {...field("password")} />
    </>
  );
}
