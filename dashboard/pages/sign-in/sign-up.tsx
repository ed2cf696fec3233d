import { type FormEvent, useState } from "react";
import { Link, Redirect, useSearch } from "wouter";
import { byField } from "../../api/failure.ts";
import { useSignedIn } from "../../api/signed-in.ts";
import { Entrance } from "../../layout/entrance.tsx";
import { Button } from "../../parts/button.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure, Notice } from "../../parts/notice.tsx";
import { useEnter } from "./enter.ts";
import { NewUserFields } from "./new-user-fields.tsx";
import { nextPage } from "./next.ts";
import { WithGithub } from "./with-github.tsx";

/** A new user, where the server lets everybody in. */
export function SignUp() {
  const [user, setUser] = useState({ name: "", email: "", password: "" });
  const search = useSearch();
  const { data: rules } = useSignedIn();
  const signUp = useEnter<typeof user>("/auth/sign-up", nextPage(search));
  if (!rules) return <Loading />;
  if (rules.signed_in) return <Redirect to={nextPage(search)} replace />;
  const errors = byField(signUp.error, Object.keys(user));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signUp.mutate(user);
  };
  const link = (
    <Link href={`/login${search && `?${search}`}`} className="text-accent underline">
      Sign in
    </Link>
  );
  if (rules.sign_up !== "open") {
    return (
      <Entrance title="Make an account">
        <Notice kind="info">
          This server takes new users by invitation only: ask a member of your team for a link.
        </Notice>
        <p className="text-center">{link}</p>
      </Entrance>
    );
  }
  return (
    <Entrance title="Make an account">
      <form onSubmit={submit} className="flex flex-col gap-4">
        <NewUserFields user={user} onChange={setUser} errors={errors} />
        <Failure error={errors.rest} />
        <Button type="submit" look="primary" busy={signUp.isPending}>
          Make the account
        </Button>
      </form>
      <WithGithub verb="Make it" query={{ next: nextPage(search) }} />
      <p className="text-center">You have one? {link}</p>
    </Entrance>
  );
}
