import type { Link as OneTimeLink } from "../../../src/contract/sign-in.ts";
import { Entrance } from "../../layout/entrance.tsx";
import { Button } from "../../parts/button.tsx";
import { Form } from "../../parts/form.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";
import { Expiry } from "./invitation.tsx";
import { PasswordField } from "./password-field.tsx";
import { useSignInForm } from "./sign-in-form.ts";

/** Sets a password, the first or a new one, with a one-time link. */
export function NewPassword({ token, link }: { token: string; link: OneTimeLink }) {
  const form = useSignInForm("/auth/link", "/", { password: "" }, { token });
  return (
    <Entrance title="Choose a password">
      <p className="text-muted">
        For{" "}
        <strong className="font-medium text-ink">
          <Visible>{link.email ?? "you"}</Visible>
        </strong>
        . This signs you out in all browsers that use an earlier password.
      </p>
      <Form onSubmit={form.submit}>
        {/* password managers store the password under this name */}
        <input type="hidden" autoComplete="username" value={link.email ?? ""} />
        <PasswordField label="New password" {...form.field("password")} />
        <Failure error={form.rest} />
        <Button type="submit" look="primary" busy={form.isPending}>
          Set the password
        </Button>
      </Form>
      <Expiry link={link} />
    </Entrance>
  );
}
