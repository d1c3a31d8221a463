"""The finished code of the course, floor by floor. A module imports only from a lower floor.

    below     _checks          checks of arguments for the whole package
              fast             Linear, Dropout and attention by the quickest way of a CPU; second derivatives
              wording          the language of checks and widgets: English, or what a catalog in locale/ says for it
              source           Python source as a page shows it: colored, wrapped between words
    floor 0   vocabulary       words <-> ids, special ids, padding a batch
              masks            causal(), padding(), the rules of today's models, and the converters between conventions
              positions        sinusoids, learned vectors, rotary angles
              attention        attend(), MultiHeadAttention
              config           TransformerConfig: the sizes and choices, PAPER_BASE, PAPER_BIG
              checkpoints      files of a model's state or weights: complete, or a ValueError
              probes           influence(), leaks(), reach(), true_means_attend(): what depends on what, as tries show
              recorder         every low-level operation that runs, with its arguments and its result
              plots            arrays in, Axes out: heatmaps, curves; knows no model
    floor 1   layers           FeedForward, EncoderLayer, DecoderLayer
              tiled            attention a tile of the weights at a time, and the softmax over blocks of keys
              torch_attention  MultiheadAttentionByHand: torch's own module, step by step, with its two masks
              costs            what a layer costs: multiply-adds, steps in a row, hops between tokens, seconds, bytes
              mask_arguments   what the mask arguments of torch and of this course mean, asked by trying
              tasks            data to learn from: generated, or read from a file of sentence pairs, or one text
    floor 2   transformer      Encoder, Decoder, Transformer, count_parameters()
    floor 3   parity           to_torch(), from_torch(): the same weights in torch.nn's own modules; from_bert_names()
              training         the loss, the schedules, trained(), a Trainer whose fit() yields its progress
              decoding         greedy, beams, sampling, speculative decoding; Cached, which remembers keys and values
              interventions    intervene(): for a while, without a mask, a head, a sublayer or positions
    floor 4   evaluation       exact_match(), teacher_forced(), translate(): how good a trained model is
              progress         what each check said last, kept in one small file
              pretrained       load_translator(): the translator that ships; load_minilm(): others' encoder in ours
              language_model   GPT and Llama: RMSNorm, SwiGLU, rotary halves, grouped heads, each as a choice
              parallel         ParallelTrainer: several processes, each with a slice of every batch
    floor 5   checking         how an answer is judged: run, compared, put into words; knows no lesson
              widgets          ModelStudio and ten more, a folder each: state in Python, drawn in the browser; explore()
              display          show(), show_source(), check_same()
              environment      check_environment(): is everything in place?
              train            `python -m lessons.train`: a model from files of sentence pairs of any size
    floor 6   exercises        a folder per notebook, a file per exercise: task, cases, known mistakes, hints

Shape letters, the same everywhere: B batch, S source, T target, Q queries, K keys, H heads,
D = d_model, d = head_dim, F = d_ff, V vocabulary.
"""
