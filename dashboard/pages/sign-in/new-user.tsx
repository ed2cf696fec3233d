import { type FormEvent, useState } from "react";
import { Link } from "wouter";
import type { Link as OneTimeLink } from "../../../src/contract/sign-in.ts";
import { byField } from "../../api/failure.ts";
import { Entrance } from "../../layout/entrance.tsx";
import { Button } from "../../parts/button.tsx";
import { Failure } from "../../parts/notice.tsx";
import { Expiry, Invited } from "./invitation.tsx";
import { NewUserFields } from "./new-user-fields.tsx";
import { useSignInForm } from "./sign-in-form.ts";
import { WithGithub } from "./with-github.tsx";

/** Creates a user with a one-time link: the first user, or an invited one. */
export function NewUser({ token, link }: { token: string; link: OneTimeLink }) {
  const [user, setUser] = useState({ name: "", email: link.email ?? "", password: "" });
  const accept = useSignInForm<typeof user & { token: string }>("/auth/link", "/");
  const errors = byField(accept.error, Object.keys(user));
  const isInvited = link.kind === "invitation";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    accept.mutate({ token, ...user });
  };
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
      <form onSubmit={submit} className="flex flex-col gap-4">
        <NewUserFields user={user} onChange={setUser} errors={errors} isEmailFixed={link.email !== null} />
        <Failure error={errors.rest} />
        <Button type="submit" look="primary" busy={accept.isPending}>
          {isInvited ? "Join" : "Create the user"}
        </Button>
      </form>
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
