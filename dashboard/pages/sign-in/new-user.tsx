import { Link } from "wouter";
import type { Link as OneTimeLink } from "../../../src/contract/sign-in.ts";
import { Entrance } from "../../layout/entrance.tsx";
import { Button } from "../../parts/button.tsx";
import { Form } from "../../parts/form.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Expiry, Invited } from "./invitation.tsx";
import { NewUserFields } from "./new-user-fields.tsx";
import { useSignInForm } from "./sign-in-form.ts";
import { WithGithub } from "./with-github.tsx";

/** Creates a user with a one-time link: the first user, or an invited one. */
export function NewUser({ token, link }: { token: string; link: OneTimeLink }) {
  const user = { name: "", email: link.email ?? "", password: "" };
  const form = useSignInForm("/auth/link", "/", user, { token });
  const isInvited = link.kind === "invitation";
  const back = `/login?next=${encodeURIComponent(`/welcome?token=${encodeURIComponent(token)}`)}`;
  return (
    <Entrance title={isInvited ? "You are invited" : "Welcome to svc"}>
      {isInvited ? (
        <Invited link={link} />
      ) : (
        <p className="text-muted">
          You are the first user of this server. Choose your sign-in details; you can invite others later.
        </p>
      )}
      <Form onSubmit={form.submit}>
        <NewUserFields field={form.field} isEmailFixed={link.email !== null} />
        <Failure error={form.rest} />
        <Button type="submit" look="primary" busy={form.isPending}>
          {isInvited ? "Join" : "Create the user"}
        </Button>
      </Form>
      {isInvited && <WithGithub verb="Join" query={{ invitation: token }} />}
      {isInvited && (
        <p>
          Already registered?{" "}
          <Link href={back} className="text-accent underline">
            Sign in first
          </Link>
          , then join as that user.
        </p>
      )}
      <Expiry link={link} />
    </Entrance>
  );
}
