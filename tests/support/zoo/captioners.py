"""Models that see and write but do not chat: Florence-2, an encoder-decoder with task words, and BLIP-2. Neither has a
chat template, as published."""

from pathlib import Path

import torch
from transformers import (
    BartTokenizer,
    Blip2Config,
    Blip2ForConditionalGeneration,
    Blip2Processor,
    BlipImageProcessor,
    CLIPImageProcessor,
    Florence2Config,
    Florence2ForConditionalGeneration,
    Florence2Processor,
    GenerationConfig,
    GPT2Tokenizer,
)

from tests.support.zoo import family
from tests.support.zoo.gemma_parts import byte_pieces, ids_of
from tests.support.zoo.parts import save


@family("florence2")
def florence2(folder: Path) -> None:
    torch.manual_seed(0)
    vocabulary, merges = byte_pieces(("<s>", "<pad>", "</s>", "<unk>"))
    words = BartTokenizer(vocab=vocabulary, merges=merges, extra_special_tokens={"image_token": "<image>"})
    words.add_tokens([f"<loc_{n}>" for n in range(10)])
    bos, pad, eos, image = ids_of(words, "<s>", "<pad>", "</s>", "<image>")
    ids = {"bos_token_id": bos, "pad_token_id": pad, "eos_token_id": eos}
    config = Florence2Config(
        text_config={"model_type": "bart", "vocab_size": len(words), "d_model": 64, "encoder_layers": 2}
        | {"decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 64}
        | {"decoder_ffn_dim": 64, "max_position_embeddings": 1024, "decoder_start_token_id": eos, **ids},
        vision_config={"depths": [1, 1, 1, 1], "embed_dim": [8, 16, 16, 32], "num_heads": [1, 2, 2, 4]}
        | {"num_groups": [1, 2, 2, 4], "window_size": 4, "projection_dim": 64},
        image_token_id=image,
        decoder_start_token_id=eos,
        **ids,
    )
    model = Florence2ForConditionalGeneration(config)
    model.generation_config = GenerationConfig(
        decoder_start_token_id=eos,
        forced_bos_token_id=bos,
        forced_eos_token_id=eos,
        no_repeat_ngram_size=3,
        num_beams=3,
        **ids,
    )
    image_processor = CLIPImageProcessor(
        size={"height": 128, "width": 128}, crop_size={"height": 128, "width": 128}, do_center_crop=False
    )
    image_processor.image_seq_length = 17
    save(folder, model, Florence2Processor(image_processor=image_processor, tokenizer=words))


@family("blip-2")
def blip_2(folder: Path) -> None:
    torch.manual_seed(0)
    vocabulary, merges = byte_pieces(("<s>", "<pad>", "</s>", "<unk>"))
    words = GPT2Tokenizer(
        vocab=vocabulary, merges=merges, bos_token="</s>", eos_token="</s>", unk_token="</s>", pad_token="<pad>"
    )
    processor = Blip2Processor(
        image_processor=BlipImageProcessor(size={"height": 56, "width": 56}), tokenizer=words, num_query_tokens=4
    )
    pad, end, image = ids_of(words, "<pad>", "</s>", "<image>")
    ids = {"bos_token_id": end, "pad_token_id": pad, "eos_token_id": end}
    config = Blip2Config(
        text_config={"model_type": "opt", "vocab_size": len(words), "hidden_size": 64, "ffn_dim": 128}
        | {"num_hidden_layers": 2, "num_attention_heads": 4, "word_embed_proj_dim": 64, "init_std": 0.1}
        | {"max_position_embeddings": 8192, **ids},
        vision_config={"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
        | {"image_size": 56, "initializer_range": 0.02},
        qformer_config={"vocab_size": 100, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
        | {"intermediate_size": 64, "max_position_embeddings": 64},
        num_query_tokens=4,
        image_text_hidden_size=16,
        image_token_index=image,
    )
    model = Blip2ForConditionalGeneration(config)
    model.generation_config = GenerationConfig(**ids)
    save(folder, model, processor)
