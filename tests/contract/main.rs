//! The promises of `Store`, as sentences, on every engine.
//!
//! A promise is a function over a `World`: a fresh store, and a tenant that nobody else uses. Promises that only one
//! engine makes, about its files for example, are in `embedded`.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a promise that is broken panics")]

#[path = "../support/backdoor.rs"]
mod backdoor;
mod batches;
mod behind;
mod changes;
mod deadlines;
mod embedded;
mod fixture;
mod groups;
#[path = "../support/held.rs"]
mod held;
#[path = "../support/home.rs"]
mod home;
mod inspection;
mod isolation;
mod kept;
mod ledger;
mod lineage;
mod model;
#[path = "../support/pgbouncer.rs"]
mod pgbouncer;
#[path = "../support/postgres.rs"]
mod postgres;
mod reads;
mod searches;
mod servers;
mod shapes;
#[path = "../support/unpacked.rs"]
mod unpacked;

use home::Engine;

/// The engines.
const ENGINES: &[Engine] = &[Engine::Sqlite, Engine::Postgres];

/// Makes each promise a test on each engine.
macro_rules! promises {
    ($($subject:ident { $($promise:ident,)+ })*) => {
        mod on_sqlite {
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $promise() {
                    crate::$subject::$promise(crate::fixture::World::on(crate::Engine::Sqlite).await).await;
                }
            )+)*
        }
        mod on_postgres {
            $($(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $promise() {
                    crate::$subject::$promise(crate::fixture::World::on(crate::Engine::Postgres).await).await;
                }
            )+)*
        }
    };
}

promises! {
    searches {
        a_search_reads_every_memory_of_the_context_with_its_tokens_or_who_has_a_substring,
        b05_a_substring_is_literal_whatever_its_characters,
        i13_tokens_go_with_their_value,
    }
    shapes {
        a_view_of_every_shape_holds_what_its_parts_promise,
        the_whole_of_a_context_is_as_many_memories_as_asked_for_and_one_more,
    }
    reads {
        a_memory_comes_back_as_it_was_written_by_every_way,
        a_candidate_comes_back_as_it_was_written_by_every_way,
        a_view_holds_what_was_asked_by_key_by_id_and_by_all_and_nothing_else,
        a_view_names_the_revision_of_every_scope_in_order_of_precedence,
        a_view_shows_at_most_64_candidates_oldest_first_that_the_keys_touch,
        a_memory_whose_address_was_taken_is_still_found_by_its_id,
        a_value_is_given_at_that_version_alone,
        a_place_holds_what_a_write_judges,
        lists_run_by_owner_project_task_and_key_bytewise_and_know_their_revisions,
        every_range_shows_what_it_says_and_pages_from_any_position,
        b09_rows_of_one_instant_page_without_loss,
        a_candidate_lapses_at_its_instant,
        a_row_without_confidence_reads_as_none,
        i08_a_code_or_list_that_no_version_writes_reads_as_not_intact,
    }
    kept {
        a_kept_context_answers_as_the_store_does,
        i12_a_decision_on_a_kept_context_is_recorded_only_where_it_still_stands,
        what_this_process_writes_is_seen_at_once,
        what_lapses_leaves_a_kept_context,
    }
    lineage {
        a_place_tells_of_a_lineage_that_leads_back_however_far,
    }
    isolation {
        i02_no_read_shows_another_tenant_or_subject,
        i02_no_change_reaches_another_tenant_or_subject,
        i02_shared_rows_are_seen_by_every_subject_of_the_tenant_alone,
        b02_project_and_task_ids_match_whole_or_not_at_all,
        b05_percent_underscore_quotes_and_case_are_literal,
    }
    changes {
        i03_an_address_has_one_memory_and_a_memory_one_address,
        i03_versions_form_one_chain_with_one_newest,
        i04_a_stale_expectation_of_any_kind_writes_nothing,
        i04_an_expectation_that_holds_lets_the_change_through,
        i05_a_change_that_fails_late_leaves_nothing_behind,
        a_change_raises_counter_and_revision_once_however_much_it_writes,
        a_change_that_only_records_raises_nothing,
        the_feed_has_a_gapless_position_per_tenant,
        lineage_names_source_parents_and_references_of_each_version,
        i14_a_block_is_met_at_every_scope_by_reference_and_key_or_by_parent,
        i14_unblocking_lifts_a_deletion_and_nothing_else,
        an_erased_candidate_is_gone_and_is_erased_once,
        what_is_over_is_erased_and_nothing_else,
        a_change_that_is_not_of_one_piece_is_refused_as_a_defect,
    }
    batches {
        i05_changes_committed_together_are_all_there_or_none,
        a_change_sees_what_those_before_it_wrote,
        changes_committed_together_are_answered_in_their_order_after_one_flush,
        the_outcomes_of_a_batch_are_kept_in_their_order,
        a_refused_batch_does_not_harm_its_group,
    }
    ledger {
        i06_the_decision_is_there_when_commit_returns_and_after_opening_anew,
        a_decision_never_holds_a_key_that_is_text,
        a_kept_outcome_comes_back_for_its_own_caller_and_method_until_it_expires,
        an_outcome_is_kept_once_until_it_has_expired,
        decisions_made_before_an_instant_go_oldest_first_and_nothing_else,
        a_policy_is_kept_once,
        digests_and_tokens_outlive_the_process,
        a_closed_store_answers_unavailable,
    }
    deadlines {
        what_is_out_of_time_does_not_begin,
    }
    groups {
        changes_that_wait_are_committed_together_and_each_is_answered,
        a_group_of_decisions_is_recorded_whole_however_large_it_is,
        of_32_rivals_for_each_version_exactly_one_wins,
        a_refused_change_does_not_harm_its_group,
        calls_dropped_half_way_leave_every_change_whole,
        reads_dropped_half_way_leave_no_transaction_behind,
    }
}
