import { type FormEvent, useState } from "react";
import type { Link as OneTimeLink } from "../../../src/contract/sign-in.ts";
import { byField } from "../../api/failure.ts";
import { Entrance } from "../../layout/entrance.tsx";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";
import { Expiry } from "./invitation.tsx";
import { PasswordField } from "./password-field.tsx";
import { useSignInForm } from "./sign-in-form.ts";

/** Sets a password, the first or a new one, with a one-time link. */
export function NewPassword({ token, link }: { token: string; link: OneTimeLink }) {
  const [password, setPassword] = useState("");
  const accept = useSignInForm<{ token: string; password: string }>("/auth/link", "/");
  const errors = byField(accept.error, ["password"]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    accept.mutate({ token, password });
  };
  return (
    <Entrance title="Choose a password">
      <p className="text-muted">
        For{" "}
        <strong className="font-medium text-ink">
          <Visible>{link.email ?? "you"}</Visible>
        </strong>
        . This signs you out in all browsers that use an earlier password.
      </p>
      <form onSubmit={submit} className="flex flex-col gap-4">
        {/* password managers store the password under this name */}
        <input type="hidden" autoComplete="username" value={link.email ?? ""} />
        <PasswordField
          label="New password"
          value={password}
          onChange={(event) => setPassword(event.target.value)}
          error={errors.of("password")}
        />
        <Failure error={errors.rest} />
        <Button type="submit" look="primary" busy={accept.isPending}>
          Set the password
        </Button>
      </form>
      <Expiry link={link} />
    </Entrance>
  );
}
