CREATE TYPE "public"."cr_part" AS ENUM('assignee', 'reviewer');--> statement-breakpoint
ALTER TYPE "public"."event_type" ADD VALUE 'label';--> statement-breakpoint
ALTER TYPE "public"."notification_event" ADD VALUE 'cr.review_requested';--> statement-breakpoint
CREATE TABLE "change_request_labels" (
	"cr_id" uuid NOT NULL,
	"label_id" uuid NOT NULL,
	CONSTRAINT "change_request_labels_cr_id_label_id_pk" PRIMARY KEY("cr_id","label_id")
);
--> statement-breakpoint
CREATE TABLE "labels" (
	"label_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"project_id" uuid NOT NULL,
	"name" text NOT NULL,
	"key" text NOT NULL,
	"color" text NOT NULL,
	"description" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "change_request_people" (
	"cr_id" uuid NOT NULL,
	"part" "cr_part" NOT NULL,
	"user_id" uuid NOT NULL,
	"since" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "change_request_people_cr_id_part_user_id_pk" PRIMARY KEY("cr_id","part","user_id")
);
--> statement-breakpoint
ALTER TABLE "change_request_labels" ADD CONSTRAINT "change_request_labels_cr_id_change_requests_cr_id_fk" FOREIGN KEY ("cr_id") REFERENCES "public"."change_requests"("cr_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "change_request_labels" ADD CONSTRAINT "change_request_labels_label_id_labels_label_id_fk" FOREIGN KEY ("label_id") REFERENCES "public"."labels"("label_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "labels" ADD CONSTRAINT "labels_project_id_projects_project_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("project_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "change_request_people" ADD CONSTRAINT "change_request_people_cr_id_change_requests_cr_id_fk" FOREIGN KEY ("cr_id") REFERENCES "public"."change_requests"("cr_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "change_request_people" ADD CONSTRAINT "change_request_people_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "change_request_labels_label_id" ON "change_request_labels" USING btree ("label_id","cr_id");--> statement-breakpoint
CREATE UNIQUE INDEX "labels_project_id_key_unique" ON "labels" USING btree ("project_id","key");--> statement-breakpoint
CREATE INDEX "change_request_people_user_id" ON "change_request_people" USING btree ("user_id","part","cr_id");