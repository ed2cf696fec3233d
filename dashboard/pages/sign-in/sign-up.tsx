import { type FormEvent, useState } from "react";
import { Link, Redirect, useSearch } from "wouter";
import { byField } from "../../api/failure.ts";
import { useSignedIn } from "../../api/signed-in.ts";
import { Entrance } from "../../layout/entrance.tsx";
import { Button } from "../../parts/button.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure, Notice } from "../../parts/notice.tsx";
import { NewUserFields } from "./new-user-fields.tsx";
import { nextPage } from "./next.ts";
import { useSignInForm } from "./sign-in-form.ts";
import { WithGithub } from "./with-github.tsx";

/** Creates a user, if the server allows sign-up. */
export function SignUp() {
  const [user, setUser] = useState({ name: "", email: "", password: "" });
  const search = useSearch();
  const { data: rules } = useSignedIn();
  const signUp = useSignInForm<typeof user>("/auth/sign-up", nextPage(search));
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
      <Entrance title="Create an account">
        <Notice kind="info">
          New users need an invitation on this server. Request a link from a member of your team.
        </Notice>
        <p className="text-center">{link}</p>
      </Entrance>
    );
  }
  return (
    <Entrance title="Create an account">
      <form onSubmit={submit} className="flex flex-col gap-4">
        <NewUserFields user={user} onChange={setUser} errors={errors} />
        <Failure error={errors.rest} />
        <Button type="submit" look="primary" busy={signUp.isPending}>
          Create the account
        </Button>
      </form>
      <WithGithub verb="Sign up" query={{ next: nextPage(search) }} />
      <p className="text-center">Already have an account? {link}</p>
    </Entrance>
  );
}
