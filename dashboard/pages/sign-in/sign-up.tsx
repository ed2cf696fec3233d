import { Link, Redirect, useSearch } from "wouter";
import { useSignedIn } from "../../api/signed-in.ts";
import { Entrance } from "../../layout/entrance.tsx";
import { Button } from "../../parts/button.tsx";
import { Form } from "../../parts/form.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Failure, Notice } from "../../parts/notice.tsx";
import { NewUserFields } from "./new-user-fields.tsx";
import { nextPage } from "./next.ts";
import { useSignInForm } from "./sign-in-form.ts";
import { WithGithub } from "./with-github.tsx";

/** Creates a user, if the server allows sign-up. */
export function SignUp() {
  const search = useSearch();
  const { data: rules } = useSignedIn();
  const form = useSignInForm("/auth/sign-up", nextPage(search), { name: "", email: "", password: "" });
  if (!rules) return <Loading />;
  if (rules.signed_in) return <Redirect to={nextPage(search)} replace />;
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
      <Form onSubmit={form.submit}>
        <NewUserFields field={form.field} />
        <Failure error={form.rest} />
        <Button type="submit" look="primary" busy={form.isPending}>
          Create the account
        </Button>
      </Form>
      <WithGithub verb="Sign up" query={{ next: nextPage(search) }} />
      <p className="text-center">Already have an account? {link}</p>
    </Entrance>
  );
}
