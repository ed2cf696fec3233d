CREATE TABLE "runtime_choices" (
	"project_id" uuid NOT NULL,
	"runtime" text NOT NULL,
	"choices" jsonb NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	CONSTRAINT "runtime_choices_project_id_runtime_pk" PRIMARY KEY("project_id","runtime")
);
--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "mode" text DEFAULT 'full' NOT NULL;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "effort" text;--> statement-breakpoint
ALTER TABLE "runtime_choices" ADD CONSTRAINT "runtime_choices_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;