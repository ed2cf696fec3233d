import { NAME_MAX } from "../../../src/contract/limits.ts";
import { TextField } from "../../parts/field.tsx";
import { PasswordField } from "./password-field.tsx";

interface User {
  name: string;
  email: string;
  password: string;
}

interface Props {
  user: User;
  onChange: (user: User) => void;
  errors: { of: (field: string) => string | undefined };
  /** The link determines the address. */
  isEmailFixed?: boolean;
}

/** Name, e-mail address and password of a new user. */
export function NewUserFields({ user, onChange, errors, isEmailFixed = false }: Props) {
  return (
    <>
      <TextField
        label="Your name"
        name="name"
        autoComplete="name"
        required
        maxLength={NAME_MAX}
        value={user.name}
        onChange={(event) => onChange({ ...user, name: event.target.value })}
        error={errors.of("name")}
      />
      <TextField
        label="E-mail"
        type="email"
        name="email"
        autoComplete="username"
        required
        readOnly={isEmailFixed}
        value={user.email}
        onChange={(event) => onChange({ ...user, email: event.target.value })}
        error={errors.of("email")}
      />
      <PasswordField
        value={user.password}
        onChange={(event) => onChange({ ...user, password: event.target.value })}
        error={errors.of("password")}
      />
    </>
  );
}
