CREATE TYPE "public"."model_call_state" AS ENUM('open', 'complete', 'incomplete');--> statement-breakpoint
CREATE TABLE "model_calls" (
	"call_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"account_id" uuid NOT NULL,
	"project_id" uuid,
	"session_id" text,
	"user_id" uuid,
	"server_id" text NOT NULL,
	"model" text NOT NULL,
	"upstream" text,
	"state" "model_call_state" DEFAULT 'open' NOT NULL,
	"status" integer,
	"input" bigint DEFAULT 0 NOT NULL,
	"output" bigint DEFAULT 0 NOT NULL,
	"cached" bigint DEFAULT 0 NOT NULL,
	"cost" double precision,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "model_keys" (
	"hash" text PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"project_id" uuid NOT NULL,
	"account_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "model_keys_session_id_unique" UNIQUE("session_id")
);
--> statement-breakpoint
CREATE TABLE "model_spend" (
	"scope" text NOT NULL,
	"period" text NOT NULL,
	"account_id" uuid NOT NULL,
	"calls" integer NOT NULL,
	"input" bigint NOT NULL,
	"output" bigint NOT NULL,
	"cached" bigint NOT NULL,
	"cost" double precision,
	CONSTRAINT "model_spend_scope_period_pk" PRIMARY KEY("scope","period")
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "model_budget" double precision;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "model_session_budget" double precision;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "model_budget" double precision;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "model_session_budget" double precision;--> statement-breakpoint
ALTER TABLE "model_calls" ADD CONSTRAINT "model_calls_account_id_accounts_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("account_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "model_calls" ADD CONSTRAINT "model_calls_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "model_calls" ADD CONSTRAINT "model_calls_session_id_project_sessions_session_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."project_sessions"("session_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "model_calls" ADD CONSTRAINT "model_calls_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "model_keys" ADD CONSTRAINT "model_keys_session_id_project_sessions_session_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."project_sessions"("session_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "model_keys" ADD CONSTRAINT "model_keys_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "model_keys" ADD CONSTRAINT "model_keys_account_id_accounts_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("account_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "model_keys" ADD CONSTRAINT "model_keys_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "model_spend" ADD CONSTRAINT "model_spend_account_id_accounts_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("account_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "model_calls_account_id" ON "model_calls" USING btree ("account_id","started_at");--> statement-breakpoint
CREATE INDEX "model_calls_project_id" ON "model_calls" USING btree ("project_id");--> statement-breakpoint
CREATE INDEX "model_calls_session_id" ON "model_calls" USING btree ("session_id");--> statement-breakpoint
CREATE INDEX "model_calls_open" ON "model_calls" USING btree ("account_id") WHERE "model_calls"."state" = 'open';--> statement-breakpoint
CREATE INDEX "model_keys_project_id" ON "model_keys" USING btree ("project_id");