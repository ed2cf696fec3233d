CREATE TYPE "public"."app_presence" AS ENUM('enabled', 'disabled', 'gone');--> statement-breakpoint
CREATE TYPE "public"."deploy_reason" AS ENUM('created', 'changed', 'asked');--> statement-breakpoint
CREATE TYPE "public"."deployment_state" AS ENUM('building', 'starting', 'live', 'retired', 'failed', 'stopped');--> statement-breakpoint
CREATE TYPE "public"."session_purpose" AS ENUM('agent', 'app');--> statement-breakpoint
CREATE TABLE "app_deployments" (
	"deployment_id" text PRIMARY KEY NOT NULL,
	"app_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"state" "deployment_state" NOT NULL,
	"reason" "deploy_reason" NOT NULL,
	"commit" text NOT NULL,
	"entry" jsonb NOT NULL,
	"entry_hash" text NOT NULL,
	"tree" text,
	"error" text,
	"created_by" uuid,
	"site_place" text,
	"restarts" integer DEFAULT 0 NOT NULL,
	"restart_at" timestamp with time zone,
	"drain_until" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"live_at" timestamp with time zone,
	"ended_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "app_links" (
	"hash" text PRIMARY KEY NOT NULL,
	"app_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"role" "preview_role" NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "apps" (
	"app_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"project_id" uuid NOT NULL,
	"slug" text NOT NULL,
	"label" text NOT NULL,
	"entry" jsonb NOT NULL,
	"entry_hash" text NOT NULL,
	"commit" text NOT NULL,
	"presence" "app_presence" NOT NULL,
	"is_stopped" boolean DEFAULT false NOT NULL,
	"considered_commit" text,
	"deployment_count" integer DEFAULT 0 NOT NULL,
	"live_id" text,
	"wanted_id" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "purpose" "session_purpose" DEFAULT 'agent' NOT NULL;--> statement-breakpoint
ALTER TABLE "app_deployments" ADD CONSTRAINT "app_deployments_app_id_apps_app_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."apps"("app_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "app_deployments" ADD CONSTRAINT "app_deployments_created_by_users_user_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("user_id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "app_links" ADD CONSTRAINT "app_links_app_id_apps_app_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."apps"("app_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "app_links" ADD CONSTRAINT "app_links_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "apps" ADD CONSTRAINT "apps_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "app_deployments_app_id_number" ON "app_deployments" USING btree ("app_id","number");--> statement-breakpoint
CREATE INDEX "app_links_app_id" ON "app_links" USING btree ("app_id");--> statement-breakpoint
CREATE UNIQUE INDEX "apps_project_id_slug" ON "apps" USING btree ("project_id","slug");--> statement-breakpoint
CREATE UNIQUE INDEX "apps_label" ON "apps" USING btree ("label");