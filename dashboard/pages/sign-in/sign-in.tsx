import { Link, Redirect, useSearch } from "wouter";
import { useSignedIn } from "../../api/signed-in.ts";
import { Entrance } from "../../layout/entrance.tsx";
import { Button } from "../../parts/button.tsx";
import { TextField } from "../../parts/field.tsx";
import { Form } from "../../parts/form.tsx";
import { Failure, Notice } from "../../parts/notice.tsx";
import { nextPage } from "./next.ts";
import { useSignInForm } from "./sign-in-form.ts";
import { WithGithub } from "./with-github.tsx";

export function SignIn() {
  const search = useSearch();
  const { data: rules } = useSignedIn();
  const form = useSignInForm("/auth/sign-in", nextPage(search), { email: "", password: "" });
  if (rules?.signed_in) return <Redirect to={nextPage(search)} replace />;
  return (
    <Entrance title="Sign in to svc">
      {rules?.first_user && (
        <Notice kind="info">
          No user has a password yet. Open the link that the server printed when it started, or create one
          with: <code className="font-mono">svc-api admin link --email &lt;your e-mail&gt;</code>
        </Notice>
      )}
      <Form onSubmit={form.submit}>
        <TextField
          label="E-mail"
          type="email"
          name="email"
          autoComplete="username"
          required
          {...form.input("email")}
        />
        <TextField
          label="Password"
          type="password"
          name="password"
          autoComplete="current-password"
          required
          {...form.input("password")}
        />
        <Failure error={form.error} />
        <Button type="submit" look="primary" busy={form.isPending}>
          Sign in
        </Button>
      </Form>
      <WithGithub verb="Sign in" query={{ next: nextPage(search) }} />
      {rules?.sign_up === "open" && (
        <p className="text-center">
          New here?{" "}
          <Link href={`/sign-up${search && `?${search}`}`} className="text-accent underline">
            Create an account
          </Link>
        </p>
      )}
    </Entrance>
  );
}
