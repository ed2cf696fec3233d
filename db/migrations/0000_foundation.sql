CREATE TYPE "public"."member_role" AS ENUM('owner', 'admin', 'member');--> statement-breakpoint
CREATE TYPE "public"."cr_status" AS ENUM('open', 'merged', 'closed');--> statement-breakpoint
CREATE TYPE "public"."session_status" AS ENUM('queued', 'branching', 'provisioning', 'running', 'stopped', 'failed', 'completed');--> statement-breakpoint
CREATE TABLE "account_members" (
	"account_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"role" "member_role" NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "account_members_account_id_user_id_pk" PRIMARY KEY("account_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "accounts" (
	"account_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"name" text NOT NULL,
	"slug" text NOT NULL,
	"tier" text DEFAULT 'selfhost' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "accounts_slug_unique" UNIQUE("slug")
);
--> statement-breakpoint
CREATE TABLE "users" (
	"user_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"email" text NOT NULL,
	"name" text NOT NULL,
	"password_hash" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "users_email_lowercase" CHECK ("users"."email" = lower("users"."email"))
);
--> statement-breakpoint
CREATE TABLE "change_requests" (
	"cr_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"account_id" uuid NOT NULL,
	"project_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"title" text NOT NULL,
	"description" text DEFAULT '' NOT NULL,
	"base_ref" text NOT NULL,
	"head_ref" text NOT NULL,
	"status" "cr_status" DEFAULT 'open' NOT NULL,
	"head_commit_sha" text,
	"base_commit_sha" text,
	"origin_session_id" text,
	"created_by" uuid NOT NULL,
	"merged_at" timestamp with time zone,
	"merged_by" uuid,
	"merge_commit_sha" text,
	"closed_at" timestamp with time zone,
	"closed_by" uuid,
	"metadata" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "change_requests_title_present" CHECK ("change_requests"."title" <> ''),
	CONSTRAINT "change_requests_two_branches" CHECK ("change_requests"."head_ref" <> "change_requests"."base_ref"),
	CONSTRAINT "change_requests_merged_is_whole" CHECK ("change_requests"."status" <> 'merged' or ("change_requests"."merged_at" is not null and "change_requests"."merge_commit_sha" is not null
        and "change_requests"."head_commit_sha" is not null and "change_requests"."base_commit_sha" is not null)),
	CONSTRAINT "change_requests_closed_is_dated" CHECK (("change_requests"."status" = 'closed') = ("change_requests"."closed_at" is not null))
);
--> statement-breakpoint
CREATE TABLE "merge_intents" (
	"cr_id" uuid NOT NULL,
	"merge_sha" text NOT NULL,
	"base_sha" text NOT NULL,
	"head_sha" text NOT NULL,
	"fast_forward" boolean NOT NULL,
	"message" text NOT NULL,
	"merged_by" uuid NOT NULL,
	"intended_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "merge_intents_cr_id_merge_sha_pk" PRIMARY KEY("cr_id","merge_sha")
);
--> statement-breakpoint
CREATE TABLE "merge_verdicts" (
	"project_id" uuid NOT NULL,
	"base_sha" text NOT NULL,
	"head_sha" text NOT NULL,
	"git_version" text NOT NULL,
	"merge_base" text,
	"is_up_to_date" boolean NOT NULL,
	"can_merge" boolean NOT NULL,
	"can_fast_forward" boolean NOT NULL,
	"conflicts" jsonb NOT NULL,
	CONSTRAINT "merge_verdicts_project_id_base_sha_head_sha_git_version_pk" PRIMARY KEY("project_id","base_sha","head_sha","git_version")
);
--> statement-breakpoint
CREATE TABLE "projects" (
	"project_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"account_id" uuid NOT NULL,
	"name" text NOT NULL,
	"slug" text NOT NULL,
	"repo_url" text NOT NULL,
	"default_branch" text NOT NULL,
	"managed" boolean DEFAULT false NOT NULL,
	"manifest_path" text DEFAULT 'svc.toml' NOT NULL,
	"git_credential" text,
	"mirror_id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"last_change_request_number" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "server_facts" (
	"name" text PRIMARY KEY NOT NULL,
	"value" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "project_sessions" (
	"session_id" text PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"branch_name" text NOT NULL,
	"base_ref" text NOT NULL,
	"status" "session_status" NOT NULL,
	"created_by" uuid NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tokens" (
	"token_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"user_id" uuid NOT NULL,
	"project_id" uuid,
	"session_id" text,
	"name" text NOT NULL,
	"hash" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp with time zone,
	"expires_at" timestamp with time zone,
	CONSTRAINT "tokens_hash_unique" UNIQUE("hash"),
	CONSTRAINT "tokens_session_needs_project" CHECK ("tokens"."session_id" is null or "tokens"."project_id" is not null)
);
--> statement-breakpoint
ALTER TABLE "account_members" ADD CONSTRAINT "account_members_account_id_accounts_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("account_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "account_members" ADD CONSTRAINT "account_members_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "change_requests" ADD CONSTRAINT "change_requests_account_id_accounts_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("account_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "change_requests" ADD CONSTRAINT "change_requests_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "change_requests" ADD CONSTRAINT "change_requests_origin_session_id_project_sessions_session_id_fk" FOREIGN KEY ("origin_session_id") REFERENCES "public"."project_sessions"("session_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "change_requests" ADD CONSTRAINT "change_requests_created_by_users_user_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "change_requests" ADD CONSTRAINT "change_requests_merged_by_users_user_id_fk" FOREIGN KEY ("merged_by") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "change_requests" ADD CONSTRAINT "change_requests_closed_by_users_user_id_fk" FOREIGN KEY ("closed_by") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "merge_intents" ADD CONSTRAINT "merge_intents_cr_id_change_requests_cr_id_fk" FOREIGN KEY ("cr_id") REFERENCES "public"."change_requests"("cr_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "merge_intents" ADD CONSTRAINT "merge_intents_merged_by_users_user_id_fk" FOREIGN KEY ("merged_by") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "merge_verdicts" ADD CONSTRAINT "merge_verdicts_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "projects" ADD CONSTRAINT "projects_account_id_accounts_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("account_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD CONSTRAINT "project_sessions_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD CONSTRAINT "project_sessions_account_id_accounts_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("account_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD CONSTRAINT "project_sessions_created_by_users_user_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tokens" ADD CONSTRAINT "tokens_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tokens" ADD CONSTRAINT "tokens_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "tokens" ADD CONSTRAINT "tokens_session_id_project_sessions_session_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."project_sessions"("session_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "account_members_user_id" ON "account_members" USING btree ("user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "users_email_unique" ON "users" USING btree ("email");--> statement-breakpoint
CREATE INDEX "change_requests_account_id" ON "change_requests" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "change_requests_project_id" ON "change_requests" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "change_requests_project_id_status" ON "change_requests" USING btree ("project_id","status");--> statement-breakpoint
CREATE UNIQUE INDEX "change_requests_project_id_number_unique" ON "change_requests" USING btree ("project_id","number");--> statement-breakpoint
CREATE INDEX "change_requests_origin_session_id" ON "change_requests" USING btree ("origin_session_id");--> statement-breakpoint
CREATE INDEX "projects_account_id" ON "projects" USING btree ("account_id");--> statement-breakpoint
CREATE UNIQUE INDEX "projects_slug_unique" ON "projects" USING btree ("slug");--> statement-breakpoint
CREATE INDEX "project_sessions_project_id" ON "project_sessions" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "tokens_user_id" ON "tokens" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "tokens_project_id" ON "tokens" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "tokens_session_id" ON "tokens" USING btree ("session_id");