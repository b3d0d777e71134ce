"""What Potato knows: its keys, scheme types and display types, as tables (P-2.12.1).

Which of Potato's keys give a notice: those that change what annotators see, are asked or are handed out, since the
bridge does not carry them over (`UNUSED_KEYS`). Keys that only concern Potato's own server, accounts, files, logs and
research features are silent (`SERVER_KEYS`): another tool has its own.
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Top-level keys that the bridge reads.
USED_KEYS = _words(
    """annotation_task_name task_dir data_files item_properties instance_display output_annotation_dir
    export_annotation_format output_annotation_format annotation_schemes data_directory data_sources pre_annotation
    max_annotations_per_item"""
)

#: Top-level keys that change what annotators see, are asked or are handed out.
UNUSED_KEYS = _words(
    """active_learning adjudication ai_support alert_time_each_instance annotation_codebook_url
    annotation_instructions annotation_task_description annotation_ui arena assignment_strategy attention_checks
    automatic_assignment base_css base_html_template batch_assignment boundary_probing bws_config cases
    category_assignment chat_support codebook codebook_invivo_key codebook_mode completion_code cot_segmentation
    crowdsourcing custom_footer_html customjs data_directory_encoding default_video_fps diversity_config
    diversity_ordering event_template format_handling gold_standards gold_standards_file header_file header_logo
    hide_navbar highlight_linebreaks horizontal_key_bindings ibws_config icl_labeling instance_reclaim
    keyword_highlight_settings keyword_highlights_file layout list_as_text live_agent live_coding_agent llm_labeling
    machine_annotators max_annotations_per_user max_session_seconds media_directory
    min_annotators_per_instance mturk num_annotators_per_item partial_loading per_annotator_quota phases
    prestudy prolific qda_mode quality_control random_seed reclaim_stale_assignments
    require_fully_annotated review_mode review_workflow rooms scheme_sets sessions solo_mode surveyflow
    task_description task_layout thinkaloud trace_ingestion training triage truth_serum ui ui_config ui_language
    watch_data_directory"""
)

#: Top-level keys of Potato's own server, accounts, storage, logs and analyses.
SERVER_KEYS = _words(
    """admin_api_key agent_proxy agreement_metrics allow_phase_back_navigation analytics annotator_dashboard
    audio_annotation authentication auto_export_interval automation config_file corpus_map curation
    customjs_hostname data_cache database dataset_metadata datasets debug debug_log debug_phase
    embedding_visualization env_substitution export_include_annotation_changes export_include_phase_data host
    huggingface_backup jumping_to_id_disabled judge_alignment judge_calibration keystroke_logging login mace
    persist_sessions pocket port psychometrics publish rbac require_no_password require_password search secret_key
    server server_debug session_lifetime_days site_dir site_file spectrogram ui_debug user_config user_roles verbose
    very_verbose watch_poll_interval webhooks"""
)

#: Keys that any scheme may have, and that change what annotators see.
SCHEME_UNUSED_KEYS = _words(
    "ai_support display_logic layout session_level turn_binding turn_label turn_level tooltip title"
)
#: Keys that any scheme may have, and that concern the look of Potato's form.
SCHEME_SILENT_KEYS = _words("humanize_labels keybinding_strategy")

#: `annotation_type`: all 76 that Potato has.
SCHEME_TYPES = _words(
    """radio multiselect likert slider number vas range_slider text select ranking pairwise bws confidence
    constant_sum soft_label semantic_differential rubric_eval multirate triage hierarchical_multiselect card_sort
    conjoint text_edit span span_link event_annotation coreference extractive_qa error_span pure_display video
    process_reward code_review trajectory_edit trajectory_eval tool_call_review gui_trajectory multimodal_reasoning
    handoff_review failure_attribution agent_scorecard agent_interaction_graph emergent_behavior consensus_tracking
    context_attribution tool_contention voice_interaction speech_transcript temporal_grounding table_grid
    tree_annotation multi_document_event image_annotation audio_annotation video_annotation spatial_annotation
    volume_annotation tiered_annotation spectrogram_annotation episode_annotation rollout_evaluation grounding_eval
    region_caption bdm belief_elicitation price_list free_list triad_test ego_network geo_annotation listening_test
    interlinear_gloss viewer_selection cloze list_experiment randomized_response"""
)

#: Display types that show the steps of an agent.
TRACE_TYPES = _words("coding_trace cot_trace eval_trace agent_trace web_agent_trace")
#: Display types that show turns. They count as a trace where no display of `TRACE_TYPES` is.
TURN_TYPES = _words("dialogue multi_agent_discussion interactive_chat")
#: All display types.
DISPLAY_TYPES = (
    TRACE_TYPES
    | TURN_TYPES
    | _words(
        """text html image video audio audio_dialogue gallery depth_map conversation_tree pairwise code spreadsheet
        document pdf live_agent live_coding_agent web_agent_recorder"""
    )
)

#: Options of trace displays that the bridge does not carry over.
TRACE_UNUSED_OPTIONS = _words(
    """clamp_lines collapse_long_steps collapse_observations compact filmstrip_size link_steps pane_labels
    screenshot_max_height screenshot_max_width show_element_info show_filmstrip show_observation show_overlays
    show_rail show_summary show_tool_badges step_type_colors alternating_shading depth_key indent_replies max_height
    max_indent_depth meta_key per_turn_ratings reply_to_key show_reply_lines show_timestamps speaker_extraction
    timestamp_format turn_meta_fields"""
)

#: The named colours of CSS.
CSS_COLORS = _words(
    """aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood
    cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod darkgray
    darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon darkseagreen
    darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink deepskyblue dimgray dimgrey dodgerblue
    firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod gray green greenyellow grey honeydew
    hotpink indianred indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan
    lightgoldenrodyellow lightgray lightgreen lightgrey lightpink lightsalmon lightseagreen lightskyblue lightslategray
    lightslategrey lightsteelblue lightyellow lime limegreen linen magenta maroon mediumaquamarine mediumblue
    mediumorchid mediumpurple mediumseagreen mediumslateblue mediumspringgreen mediumturquoise mediumvioletred
    midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive olivedrab orange orangered orchid
    palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru pink plum powderblue purple
    rebeccapurple red rosybrown royalblue saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue
    slateblue slategray slategrey snow springgreen steelblue tan teal thistle tomato turquoise violet wheat white
    whitesmoke yellow yellowgreen"""
)
