ALTER TYPE "public"."notification_event" ADD VALUE 'cr.dequeued';--> statement-breakpoint
CREATE TABLE "merge_queue_branches" (
	"project_id" uuid NOT NULL,
	"branch" text NOT NULL,
	CONSTRAINT "merge_queue_branches_project_id_branch_pk" PRIMARY KEY("project_id","branch")
);
--> statement-breakpoint
CREATE TABLE "merge_queue_entries" (
	"cr_id" uuid PRIMARY KEY NOT NULL,
	"project_id" uuid NOT NULL,
	"base_ref" text NOT NULL,
	"place" bigserial NOT NULL,
	"head_sha" text NOT NULL,
	"method" "merge_method" NOT NULL,
	"message" text,
	"delete_branch" boolean NOT NULL,
	"user_id" uuid NOT NULL,
	"token_id" uuid,
	"actor" jsonb,
	"queued_at" timestamp with time zone NOT NULL,
	"out_reason" text,
	"tested_sha" text,
	"parent_sha" text,
	"merge_message" text,
	"fast_forward" boolean DEFAULT false NOT NULL,
	"built_at" timestamp with time zone,
	"checked_sha" text,
	"host_due_at" timestamp with time zone
);
--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "merge_queue" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "merge_timeout_minutes" integer DEFAULT 60 NOT NULL;--> statement-breakpoint
ALTER TABLE "merge_queue_branches" ADD CONSTRAINT "merge_queue_branches_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "merge_queue_entries" ADD CONSTRAINT "merge_queue_entries_cr_id_change_requests_cr_id_fk" FOREIGN KEY ("cr_id") REFERENCES "public"."change_requests"("cr_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "merge_queue_entries" ADD CONSTRAINT "merge_queue_entries_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "merge_queue_entries" ADD CONSTRAINT "merge_queue_entries_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "merge_queue_entries_queued" ON "merge_queue_entries" USING btree ("project_id","base_ref","place") WHERE "merge_queue_entries"."out_reason" is null;--> statement-breakpoint
CREATE INDEX "merge_queue_entries_tested" ON "merge_queue_entries" USING btree ("project_id","tested_sha");