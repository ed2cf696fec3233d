CREATE TYPE "public"."commit_status_state" AS ENUM('error', 'failure', 'pending', 'success');--> statement-breakpoint
ALTER TYPE "public"."event_type" ADD VALUE 'check' BEFORE 'session';--> statement-breakpoint
CREATE TABLE "commit_statuses" (
	"status_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"project_id" uuid NOT NULL,
	"sha" text NOT NULL,
	"context" text NOT NULL,
	"state" "commit_status_state" NOT NULL,
	"description" text,
	"target_url" text,
	"created_by" uuid NOT NULL,
	"created_actor" jsonb,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "required_checks" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "commit_statuses" ADD CONSTRAINT "commit_statuses_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "commit_statuses" ADD CONSTRAINT "commit_statuses_created_by_users_user_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "commit_statuses_context" ON "commit_statuses" USING btree ("project_id","sha","context");